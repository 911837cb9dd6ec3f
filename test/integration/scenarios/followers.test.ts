/** D8: people watch while attempts are cut, connections are cut and the service is killed; what they see is what happened. */
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { createHttpClient, type FeedItem, type HoldfastClient } from '../../../client';
import { signToken } from '../../../client/http/auth/verify-token';
import { setStage, type Stage } from '../../support/scenario/stage';

let stage: Stage;
let client: HoldfastClient;
beforeAll(async () => {
  stage = await setStage({ isServiceStarted: true });
  const [service] = stage.services;
  if (service === undefined) throw new Error('there is no service');
  const caller = { tenant: stage.tenant, subject: 'alice', roles: ['operator', 'agent-operator'] };
  client = createHttpClient({
    baseUrl: service.url,
    token: () => signToken({ secret: stage.tokenSecret }, caller, new Date(Date.now() + 600_000)),
  });
});
afterEach(() => stage.checkAndReset());
afterAll(() => stage.close());

const TASK = {
  agent: 'tickets',
  goal: 'Read ticket T100, reassign it to the right team by the on-call rules, then explain what was done.',
  data: { ticket: 'T100' },
};

/** What a client shows: for each step the text since its last reset. */
const shownBy = (items: readonly FeedItem[]): ReadonlyMap<number, { attempt: number; text: string; next: number }> => {
  const shown = new Map<number, { attempt: number; text: string; next: number }>();
  for (const item of items) {
    if (item.kind === 'reset') shown.set(item.step, { attempt: item.attempt, text: '', next: 0 });
    if (item.kind !== 'text') continue;
    const at = shown.get(item.step);
    expect(at).toMatchObject({ attempt: item.attempt, next: item.index });
    if (at !== undefined)
      shown.set(item.step, { attempt: item.attempt, text: at.text + item.text, next: item.index + 1 });
  }
  return shown;
};

const CANDIDATE = z.looseObject({ blocks: z.array(z.looseObject({ type: z.string(), text: z.string().optional() })) });

const textOf = (candidate: unknown): string =>
  CANDIDATE.parse(candidate)
    .blocks.map(({ type, text }) => (type === 'text' ? (text ?? '') : ''))
    .join('');

test('through attempts that are cut and a service that is killed, every line comes once and text is that of one attempt', async () => {
  stage.model.addFault({ fromRequest: 2, fault: { kind: 'cut', at: { point: 'mid-block', block: 1 } } });
  stage.model.addFault({ fromRequest: 4, fault: { kind: 'cut', at: { point: 'before-message-stop' } } });

  const { run } = await client.start(TASK, { idempotencyKey: 'followed' });
  const items: FeedItem[] = [];
  let isKilled = false;
  for await (const item of client.follow(run)) {
    items.push(item);
    if (item.kind === 'text' && !isKilled) {
      isKilled = true;
      await stage.services.at(-1)?.kill();
      await stage.startService();
    }
  }

  expect(isKilled).toBe(true);
  expect(items.at(-1)).toMatchObject({ kind: 'end', terminal: 'SUCCEEDED' });
  const positions = items.flatMap((item) => (item.kind === 'event' ? [item.event.position] : []));
  const { position } = await client.snapshot(run);
  expect(positions).toEqual(Array.from({ length: position }, (_, index) => index + 1));
  expect(items.filter(({ kind }) => kind === 'resync')).toEqual([]);

  const { attempts } = await client.details(run);
  expect(attempts.filter(({ state }) => state === 'FAILED')).toHaveLength(2);
  const shown = shownBy(items);
  expect(shown.size).toBeGreaterThan(0);
  for (const [step, { attempt, text }] of shown) {
    const spoke = attempts.find((each) => each.step === step && each.attempt === attempt);
    if (spoke?.candidate === undefined || text === '') continue;
    const { bytes } = await client.artifact(run, spoke.candidate);
    expect(textOf(JSON.parse(Buffer.from(bytes).toString())).startsWith(text)).toBe(true);
  }
});

test('what was acknowledged before the service was killed is there afterwards', async () => {
  const { run } = await client.start(TASK, { idempotencyKey: 'acknowledged' });
  await client.message(run, { id: 'm-1', kind: 'amend', text: 'Name the rule that decided' });
  await stage.services.at(-1)?.kill();
  await stage.startService();

  expect((await client.start(TASK, { idempotencyKey: 'acknowledged' })).run).toBe(run);
  const items: FeedItem[] = [];
  for await (const item of client.follow(run)) items.push(item);
  expect(items.at(-1)).toMatchObject({ kind: 'end', terminal: 'SUCCEEDED' });
  expect((await client.snapshot(run)).planVersion).toBe(2);
});
