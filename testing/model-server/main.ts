import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Script } from './script';
import { startModelServer } from './server';

const USAGE = 'usage: main.js --script PATH [--port N] [--exit-with-parent]';
const PARENT_CHECK_MS = 250;

interface Arguments {
  readonly script: string;
  readonly port: number;
  readonly exitWithParent: boolean;
}

class UsageError extends Error {}

async function main(argv: readonly string[]): Promise<void> {
  const { script, port, exitWithParent } = readArguments(argv);
  const server = await startModelServer({ script: loadScript(script), port });
  const stop = () => {
    void server.close().then(() => {
      process.exit(0);
    });
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  if (exitWithParent) whenOrphaned(stop);
  process.stdout.write(`${JSON.stringify({ ready: true, url: server.url })}\n`);
}

function readArguments(argv: readonly string[]): Arguments {
  const { values } = parse(argv);
  const port = Number(values.port);
  if (values.script === undefined) throw new UsageError(`--script is missing\n${USAGE}`);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new UsageError(`--port: expected an integer from 0 to 65535, got ${values.port}\n${USAGE}`);
  }
  return { script: values.script, port, exitWithParent: values['exit-with-parent'] };
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      options: {
        script: { type: 'string' },
        port: { type: 'string', default: '0' },
        'exit-with-parent': { type: 'boolean', default: false },
      },
    });
  } catch (cause) {
    throw new UsageError(`${cause instanceof Error ? cause.message : String(cause)}\n${USAGE}`, { cause });
  }
}

/** The module's named export `script`, or what its `createScript()` returns. */
function loadScript(path: string): Script {
  const loaded: unknown = createRequire(__filename)(resolve(path));
  const script = exportOf(loaded, 'script');
  if (isScript(script)) return script;
  const create = exportOf(loaded, 'createScript');
  const created: unknown = typeof create === 'function' ? Reflect.apply(create, undefined, []) : undefined;
  if (isScript(created)) return created;
  throw new UsageError(`--script ${path}: expected a named export "script" or "createScript" that is a function`);
}

function exportOf(module: unknown, name: string): unknown {
  return typeof module === 'object' && module !== null ? Reflect.get(module, name) : undefined;
}

function isScript(value: unknown): value is Script {
  return typeof value === 'function';
}

/** A parent that was killed cannot tell its children; they notice that they have been given to another. */
function whenOrphaned(stop: () => void): void {
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) stop();
  }, PARENT_CHECK_MS).unref();
}

if (require.main === module) {
  main(process.argv.slice(2)).catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(error instanceof UsageError ? 2 : 1);
  });
}
