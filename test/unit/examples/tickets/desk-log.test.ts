import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createDesk } from '../../../../examples/tickets/desk/desk';
import { bodyOf, openDesk } from './desk-fixture';

let dataDirectory: string;

beforeEach(() => {
  dataDirectory = mkdtempSync(join(tmpdir(), 'desk-log-'));
});

afterEach(() => {
  rmSync(dataDirectory, { recursive: true });
});

const logPath = () => join(dataDirectory, 'desk.jsonl');

test('a desk that is opened again has tickets, effects, keys, jobs, rules and settings', async () => {
  const first = openDesk({ dataDirectory });
  await first.control.changeSettings({ lookupLagMs: 7 });
  await first.control.putRule({ id: 'R-7', text: 'changed' });
  await first.post('/tickets/T100/comments', { text: 'é' }, { 'Idempotency-Key': 'k1' });
  await first.post('/tickets/T101/close', undefined, { Prefer: 'respond-async' });
  await first.clock.advance(1_000);
  first.desk.close();

  const second = openDesk({ dataDirectory });

  expect(await second.control.effects()).toEqual([
    expect.objectContaining({ id: 'F1', key: 'k1', args: { text: 'é' } }),
    expect.objectContaining({ id: 'F2', job: 'J3' }),
  ]);
  expect(await second.control.settings()).toMatchObject({ lookupLagMs: 7 });
  expect(await bodyOf(second.request('/jobs/J3'))).toMatchObject({ status: 'done', effect: { id: 'F2' } });
  expect(await bodyOf(second.request('/rules/oncall?service=payments-checkout'))).toMatchObject({
    rules: [{ text: 'changed', version: 3 }],
  });
  const repeated = await second.post('/tickets/T100/comments', { text: 'é' }, { 'Idempotency-Key': 'k1' });
  expect(repeated.headers.get('Idempotent-Replayed')).toBe('true');
  expect(await bodyOf(second.request('/tickets/T100'))).toMatchObject({ version: 4 });
  second.desk.close();
});

test('a reset is remembered too', async () => {
  const first = openDesk({ dataDirectory });
  await first.post('/tickets/T100/close');
  await first.control.reset();
  await first.post('/tickets/T101/close');
  first.desk.close();

  const second = openDesk({ dataDirectory });

  expect(await second.control.effects()).toMatchObject([{ id: 'F1', ticket: 'T101' }]);
  second.desk.close();
});

test('a job that was open goes on, and its unsent callbacks are sent', async () => {
  const first = openDesk({ dataDirectory });
  const headers = { Prefer: 'respond-async', 'Callback-Url': 'http://127.0.0.1:9/' };
  await first.post('/tickets/T100/close', undefined, headers);
  first.desk.close();

  const second = openDesk({ dataDirectory });
  await second.clock.advance(1_000);

  expect(await second.control.effects()).toMatchObject([{ kind: 'close', job: 'J3' }]);
  expect(second.receiver.bodies().map(({ type }) => type)).toEqual(['job.accepted', 'job.running', 'job.done']);
  second.desk.close();
  const third = openDesk({ dataDirectory });
  await third.clock.advance(1_000);
  expect(third.receiver.sent).toEqual([]);
  third.desk.close();
});

test('a last line that was cut off is dropped, and the desk writes on behind the last whole one', async () => {
  const first = openDesk({ dataDirectory });
  await first.post('/tickets/T100/comments', { text: 'whole' });
  first.desk.close();
  const whole = readFileSync(logPath(), 'utf8');
  appendFileSync(logPath(), whole.slice(0, 40));

  const second = openDesk({ dataDirectory });
  await second.post('/tickets/T100/comments', { text: 'next' });
  second.desk.close();

  expect(readFileSync(logPath(), 'utf8').startsWith(whole)).toBe(true);
  const third = openDesk({ dataDirectory });
  expect(await third.control.effects()).toMatchObject([{ args: { text: 'whole' } }, { args: { text: 'next' } }]);
  third.desk.close();
});

test.each(['{"schemaVersion":2,"type":"reset"}', 'garbage', '{"schemaVersion":1,"type":"change","ticket":{}}'])(
  'a line that is not a record is an error that names the line: %s',
  (line) => {
    writeFileSync(logPath(), `{"schemaVersion":1,"type":"reset"}\n${line}\n`);

    expect(() => createDesk({ dataDirectory })).toThrow(
      expect.objectContaining({ code: 'desk.log_corrupted', path: logPath(), line: 2 }),
    );
  },
);
