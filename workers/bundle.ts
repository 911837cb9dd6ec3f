/** The prebuilt workflow bundle: made once at build time, so that a worker starts without webpack. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { bundleWorkflowCode } from '@temporalio/worker';

/** Beside this file in kind: TypeScript in a checkout, JavaScript in `dist`. */
const WORKFLOWS = join(__dirname, '..', 'workflows', `index${extname(__filename)}`);

/** Beside the compiled worker; written by the build. */
export const BUNDLE_PATH = join(__dirname, 'workflow-bundle.js');

export class BundleMissing extends Error {
  override readonly name = 'BundleMissing';
  readonly code = 'bundle.missing';
  constructor(readonly path: string) {
    super(
      `workflow bundle: got nothing at ${path}, expected the file that the build writes: run \`npm run build\` ` +
        '(or only `npm run bundle`), or set HOLDFAST_WORKFLOW_BUNDLE to one that exists',
    );
  }
}

/** Throws BundleMissing, which names the command that makes it: webpack is not for a starting worker. */
export const requireBundle = (path: string): string => {
  if (!existsSync(path)) throw new BundleMissing(path);
  return path;
};

/** Bundles the workflows (of this tree: TypeScript or compiled) into one file. */
export const writeBundle = async (path: string): Promise<string> => {
  const { code } = await bundleWorkflowCode({ workflowsPath: WORKFLOWS, logger: silent });
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${SHORT_STACKS}${code}`);
  return path;
};

/**
 * The SDK notes the stack of every promise that a workflow makes, with a look-up in the source map for each of its frames:
 * with V8's ten frames that is half of what a workflow task costs. One frame still says where a fault of ours is. On the first
 * line, so that no line of the map moves.
 */
const SHORT_STACKS = 'Error.stackTraceLimit = 1; ';

const nothing = (): void => undefined;
const silent = { log: nothing, trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing };
