import { expect, test } from '@jest/globals';
import { temporalServerArgs } from '../../../../cli/stack/temporal-server';

const ports = { grpc: 1, http: 2, metrics: 3, ui: 4 };
const base = { binary: 'temporal', logDir: '/logs' };

/** The values of a flag that may be given several times. */
const valuesOf = (args: readonly string[], flag: string): readonly string[] =>
  args.flatMap((arg, index) => (arg === flag ? [args[index + 1] ?? ''] : []));

test('serves on loopback only, headless unless the page is wanted', () => {
  const headless = temporalServerArgs(ports, base);
  const withPage = temporalServerArgs(ports, { ...base, ui: true });

  expect(valuesOf(headless, '--ip')).toEqual(['127.0.0.1']);
  expect(headless).toContain('--headless');
  expect(valuesOf(withPage, '--ui-port')).toEqual(['4']);
  expect(withPage).not.toContain('--headless');
});

test('sets every measured dynamic value', () => {
  expect(valuesOf(temporalServerArgs(ports, base), '--dynamic-config-value')).toEqual([
    'history.transferProcessorMaxPollRPS=1000',
    'history.timerProcessorMaxPollRPS=1000',
    'history.visibilityProcessorMaxPollRPS=1000',
    'history.workflowIdReuseMinimalInterval="0s"',
    'history.timerProcessorMaxTimeShift="10ms"',
  ]);
});

test('a database file comes with a durable write-ahead log; in memory there is neither', () => {
  const onDisk = temporalServerArgs(ports, { ...base, databaseFile: '/d/t.db' });

  expect(valuesOf(onDisk, '--db-filename')).toEqual(['/d/t.db']);
  expect(valuesOf(onDisk, '--sqlite-pragma')).toEqual(['journal_mode=WAL', 'synchronous=FULL']);
  expect(temporalServerArgs(ports, base)).not.toContain('--sqlite-pragma');
});

test('search attributes are spelled as the server wants them', () => {
  const args = temporalServerArgs(ports, { ...base, searchAttributes: { RunState: 'KEYWORD', Tags: 'KEYWORD_LIST' } });

  expect(valuesOf(args, '--search-attribute')).toEqual(['RunState=Keyword', 'Tags=KeywordList']);
});
