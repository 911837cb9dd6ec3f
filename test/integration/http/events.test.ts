/** Following a run: every line once and in order through any reconnect, and text that is never joined across attempts. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { Client as Postgres } from 'pg';
import { createLiveTextWriter } from '../../../activities/model/live-text-writer';
import { PROBLEM } from '../../../client/http/problems/problem';
import type { RunRef } from '../../../workflows/contract/records';
import { setHttpStage, type AskInit, type HttpStage } from '../../support/http/http-stage';
import { readFrames, type Frame } from '../../support/http/sse-reader';
import {
  endAs,
  event,
  hashFrom,
  LIMITS,
  newAttempt,
  newRef,
  startedRun,
  usage,
} from '../../support/store-contract/fixtures';

const VIEWER = { tenant: 'acme', subject: 'vera', roles: ['viewer'] };

let stage: HttpStage;
beforeAll(async () => {
  stage = await setHttpStage({ deps: { limits: { heartbeatMs: 50, maxFollowers: 30 } } });
});
afterAll(() => stage.close());

const follow = (ref: RunRef, lastEventId?: string, init: AskInit = {}): Promise<Response> =>
  stage.ask(VIEWER, `/v1/runs/${ref.run}/events`, {
    ...init,
    headers: {
      Accept: 'text/event-stream',
      ...(lastEventId === undefined ? {} : { 'Last-Event-ID': lastEventId }),
    },
  });

const newRun = (): Promise<RunRef> => startedRun(stage.store, { ref: newRef('acme') });
const carry = async (ref: RunRef, ...seqs: readonly number[]): Promise<void> => {
  await stage.store.journal.carry({ ref, events: seqs.map((seq) => event(seq)) });
};
const end = async (ref: RunRef): Promise<void> => {
  await stage.store.runs.commit({ ref, events: [] }, endAs(ref, 'SUCCEEDED'));
};
const idsOf = (frames: readonly Frame[]): readonly (string | undefined)[] =>
  frames.filter((frame) => frame.event === 'event').map(({ id }) => id);
const countTo = (last: number): readonly string[] => Array.from({ length: last }, (_, index) => String(index + 1));

test('a follower gets every line once, in order, as they come, and the end', async () => {
  const ref = await newRun();
  await carry(ref, 1, 2);
  const response = await follow(ref);
  expect(response.headers.get('Content-Type')).toContain('text/event-stream');
  const reading = readFrames(response);
  await carry(ref, 3);
  await stage.store.journal.note(ref, { eventId: 'e1', body: { kind: 'test' } });
  await carry(ref, 4, 5);
  await end(ref);
  const frames = await reading;
  expect(idsOf(frames)).toEqual(countTo(7));
  expect(frames.at(-1)).toEqual({ event: 'end', data: { terminal: 'SUCCEEDED', reason: 'finish.done' } });
  expect(frames.filter(({ event: name, id }) => name !== 'event' && id !== undefined)).toEqual([]);
});

test('cut after every single line, over two instances, nothing is missing and nothing comes twice', async () => {
  const ref = await newRun();
  await carry(ref, 1, 2, 3, 4, 5, 6, 7, 8);
  await end(ref);
  const other = stage.another();
  const seen: string[] = [];
  for (let cuts = 0; cuts < 20; cuts += 1) {
    const app = cuts % 2 === 0 ? stage.app : other;
    const frames = await readFrames(await follow(ref, seen.at(-1), { app }), ({ id }) => id !== undefined);
    const [frame] = frames.filter(({ id }) => id !== undefined);
    if (frame?.id === undefined) break;
    seen.push(frame.id);
  }
  expect(seen).toEqual(countTo(9));
  expect((await follow(ref, seen.at(-1))).status).toBe(204);
});

test('two hundred lines and more come over several pages', async () => {
  const ref = await newRun();
  await carry(ref, ...Array.from({ length: 450 }, (_, index) => index + 1));
  await end(ref);
  expect(idsOf(await readFrames(await follow(ref, '10')))).toEqual(countTo(451).slice(10));
});

test('a position that the journal does not have is answered with one resync, and goes on behind it', async () => {
  const ref = await newRun();
  await carry(ref, 1, 2, 3);
  const reading = readFrames(await follow(ref, '900'));
  await carry(ref, 4);
  await end(ref);
  const frames = await reading;
  expect(frames.map(({ event: name }) => name)).toEqual(['resync', 'event', 'event', 'end']);
  expect(frames[0]).toMatchObject({ data: { snapshot: { run: ref.run, position: 3 } } });
  expect(frames[0]?.id).toBeUndefined();
  expect(idsOf(frames)).toEqual(['4', '5']);
});

test('a position whose next line was cut off is answered with one resync', async () => {
  const ref = await newRun();
  await carry(ref, 1, 2, 3, 4);
  const postgres = new Postgres({ connectionString: stage.database.url });
  await postgres.connect();
  await postgres.query('delete from journal where tenant = $1 and run = $2 and position < 4', [ref.tenant, ref.run]);
  await postgres.end();
  const reading = readFrames(await follow(ref, '2'));
  await carry(ref, 5);
  await end(ref);
  const frames = await reading;
  expect(frames.filter(({ event: name }) => name === 'resync')).toHaveLength(1);
  expect(frames[0]?.event).toBe('resync');
  const { snapshot } = frames[0]?.data as { snapshot: { position: number } };
  expect(idsOf(frames)).toEqual(countTo(6).slice(snapshot.position));
});

test.each(['abc', '-1', '1.5', '9'.repeat(30), 'run_abcdef:3'])('the cursor %s is refused', async (cursor) => {
  const response = await follow(await newRun(), cursor);
  expect(response.status).toBe(400);
  expect(PROBLEM.parse(await response.json())).toMatchObject({ code: 'cursor.invalid', field: 'Last-Event-ID' });
});

test('silence is filled with comments', async () => {
  const response = await follow(await newRun());
  if (response.body === null) throw new Error('there is no stream');
  const reader: ReadableStreamDefaultReader<Uint8Array> = response.body.getReader();
  let text = '';
  while (!text.includes(': alive\n\n: alive\n\n')) text += new TextDecoder().decode((await reader.read()).value);
  await reader.cancel();
  expect(text).toContain('retry: 1000\n\n');
});

test('text of two attempts is never joined; a failed one is voided, and who joins later never sees it', async () => {
  const ref = await newRun();
  const log = pino({ level: 'silent' });
  const tell = createLiveTextWriter({ store: stage.store.liveText, log, gatherMs: 1 });
  const of = (attempt: number) => ({ tenant: ref.tenant, run: ref.run, step: 1, attempt });
  const open = (attempt: number) =>
    stage.store.attempts.open({ ref, events: [] }, { ...newAttempt(1, attempt), limits: LIMITS });
  const textIs = (wanted: string) => {
    let shown = '';
    return (frame: Frame): boolean => {
      if (frame.event === 'reset') shown = '';
      if (frame.event === 'text') shown += (frame.data as { text: string }).text;
      return shown === wanted;
    };
  };

  await open(1);
  tell({ kind: 'reset', ...of(1) });
  tell({ kind: 'text', ...of(1), index: 0, text: 'The first ' });
  tell({ kind: 'text', ...of(1), index: 1, text: 'attempt' });
  const early = readFrames(await follow(ref), ({ event: name }) => name === 'end');
  await readFrames(await follow(ref), textIs('The first attempt'));

  await stage.store.attempts.end(
    { ref, step: 1, attempt: 1 },
    { state: 'FAILED', outcome: { kind: 'attemptFailed' }, usage: usage(1) },
  );
  const joiner = readFrames(await follow(ref), ({ event: name }) => name === 'end');
  await open(2);
  tell({ kind: 'reset', ...of(2) });
  tell({ kind: 'text', ...of(2), index: 0, text: 'Second' });
  await readFrames(await follow(ref), textIs('Second'));
  // Of a worker that had been paused: too late.
  await stage.store.liveText.add(ref, { step: 1, attempt: 1, texts: ['ghost'] });
  await stage.store.attempts.end(
    { ref, step: 1, attempt: 2 },
    { state: 'STORED', outcome: { kind: 'candidateStored' }, candidate: hashFrom('c'), usage: usage(1) },
  );
  await end(ref);

  const spoken = (frames: readonly Frame[]) =>
    frames
      .filter(({ event: name }) => name === 'reset' || name === 'text')
      .map(({ event: name, data }) => ({ name, ...(data as { attempt: number; index?: number; text?: string }) }));
  const all = spoken(await early);
  const isOfOne = all.every((frame, index) => {
    const lastReset = all.slice(0, index + 1).findLast(({ name }) => name === 'reset');
    return frame.attempt === lastReset?.attempt;
  });
  expect(isOfOne).toBe(true);
  expect(all[0]).toMatchObject({ name: 'reset', attempt: 1 });
  const ofFirst = all.filter(({ name, attempt }) => name === 'text' && attempt === 1);
  expect(ofFirst.map(({ index }) => index)).toEqual(ofFirst.map((_, index) => index));
  expect(ofFirst.map(({ text }) => text).join('')).toBe('The first attempt');
  expect(all.filter(({ name, attempt }) => name === 'text' && attempt === 2).map(({ text }) => text)).toEqual([
    'Second',
  ]);
  expect(spoken(await joiner).every(({ name, attempt }) => name === 'reset' || attempt === 2)).toBe(true);
});

test('so many followers and no more; one that has gone makes room', async () => {
  const ref = await newRun();
  const responses = await Promise.all(Array.from({ length: 30 }, () => follow(ref)));
  expect(responses.map(({ status }) => status)).toEqual(Array.from({ length: 30 }, () => 200));
  const refused = await follow(ref);
  expect(refused.headers.get('Retry-After')).toBe('5');
  expect(PROBLEM.parse(await refused.json())).toMatchObject({ status: 503, code: 'service.busy' });
  await responses[0]?.body?.cancel();
  const next = await follow(ref);
  expect(next.status).toBe(200);
  for (const { body } of [...responses.slice(1), next]) await body?.cancel();
});

test('a service that is being stopped ends its streams and refuses new ones', async () => {
  const ref = await newRun();
  const closing = new AbortController();
  const app = stage.another({ closing: closing.signal });
  const reading = readFrames(await follow(ref, undefined, { app }));
  closing.abort();
  expect((await reading).filter(({ event: name }) => name === 'end')).toEqual([]);
  expect((await follow(ref, undefined, { app })).status).toBe(503);
  expect((await app.request('/readyz')).status).toBe(503);
});
