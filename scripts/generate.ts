/**
 * Writes the documents that are derived from the code, or with `--check` says which of them no longer match it.
 * To add one, add an entry to GENERATED: its text must depend on the code alone, never on time or machine.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { renderOpenApi, renderProblems } from './generate-api';
import { renderArchitecture } from './generate-architecture';
import { renderCli } from './generate-cli';
import { renderConfiguration, renderEnvExample } from './generate-configuration';
import { renderLimits } from './generate-limits';
import { renderSchema } from './generate-schema';
import { renderStateMachine } from './state-diagram';

interface GeneratedFile {
  /** Relative to the project's root. */
  readonly path: string;
  readonly render: (rootPath: string) => string | Promise<string>;
}

const GENERATED: readonly GeneratedFile[] = [
  { path: 'docs/generated/architecture.md', render: renderArchitecture },
  { path: 'docs/generated/configuration.md', render: renderConfiguration },
  { path: 'docs/generated/limits.md', render: renderLimits },
  { path: 'docs/generated/state-machine.md', render: renderStateMachine },
  { path: 'docs/generated/cli.md', render: renderCli },
  { path: 'docs/generated/openapi.json', render: renderOpenApi },
  { path: 'docs/problems.md', render: renderProblems },
  { path: '.env.example', render: renderEnvExample },
  { path: 'store/postgres/schema.sql', render: renderSchema },
];

// Runs as dist/scripts/generate.js.
const ROOT_PATH = join(__dirname, '../..');

async function main(args: readonly string[]): Promise<number> {
  const unknown = args.filter((arg) => arg !== '--check');
  if (unknown.length > 0) {
    console.error(`generate: unknown argument ${unknown.join(' ')}; only --check is known`);
    return 2;
  }
  const isCheck = args.includes('--check');
  const stale = await findStale();
  for (const { path, text } of stale) {
    if (isCheck) console.error(`${path} does not match the code; run npm run generate`);
    else await write(path, text);
  }
  console.log(`${GENERATED.length} generated files, ${stale.length} ${isCheck ? 'stale' : 'written'}`);
  return isCheck && stale.length > 0 ? 1 : 0;
}

async function findStale(): Promise<{ path: string; text: string }[]> {
  const stale: { path: string; text: string }[] = [];
  for (const file of GENERATED) {
    const text = await file.render(ROOT_PATH);
    if ((await readIfPresent(join(ROOT_PATH, file.path))) !== text) stale.push({ path: file.path, text });
  }
  return stale;
}

async function readIfPresent(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

async function write(path: string, text: string): Promise<void> {
  const absolutePath = join(ROOT_PATH, path);
  await mkdir(dirname(absolutePath), { recursive: true });
  await writeFile(absolutePath, text);
  console.log(`wrote ${path}`);
}

void main(process.argv.slice(2)).then((exitCode) => {
  process.exitCode = exitCode;
});
