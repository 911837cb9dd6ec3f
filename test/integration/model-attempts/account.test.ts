/** What attempts cost: reserved before, settled after, held against the provider's own book. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Usage } from '../../../store/rows';
import { text, toolUse, turn, type BookEntry, type FaultInput } from '../../../testing/model-server';
import { tokensOf } from '../../../workflows/machine/ledger';
import { REQUEST, setAttemptStage, type AttemptStage, type Attempts } from './attempt-stage';

let stage: AttemptStage;
beforeAll(async () => {
  stage = await setAttemptStage();
});
afterAll(async () => {
  await stage.close();
});

const FIGURES = { inputTokens: 100, outputTokens: 30, cacheReadTokens: 50, cacheCreationTokens: 20 };
const ANSWER = turn([text('Reading it.'), toolUse('read_ticket', { id: 'T100' })], { usage: FIGURES });
/** 100 × 3 + 30 × 15 + 50 × 0.3 + 20 × 3.75 */
const COST_MICROS = 840;

const ask = (fault: FaultInput | undefined, check: (usage: Usage, attempts: Attempts) => Promise<void>) =>
  stage.use({ script: () => ANSWER, faults: fault === undefined ? [] : [{ fault }] }, async (attempts) => {
    await attempts.run();
    await check((await attempts.row()).usage, attempts);
  });

describe('figures of a whole message', () => {
  test.each<[string, FaultInput | undefined]>([
    ['at start and end', undefined],
    ['cache at the start only', { kind: 'usage', variant: 'cache-in-start' }],
    ['cache at the end only', { kind: 'usage', variant: 'cache-in-delta' }],
    ['cache larger at the end', { kind: 'usage', variant: 'cache-larger-in-delta' }],
    ['output growing over several events', { kind: 'usage', variant: 'output-grows' }],
  ])('%s: the last of each, never a sum', async (_, fault) => {
    await ask(fault, async (usage, attempts) => {
      expect(usage).toEqual({
        inputTokens: 100,
        outputTokens: 30,
        cacheReadTokens: 50,
        cacheWriteTokens: 20,
        costMicros: COST_MICROS,
        isEstimate: false,
      });
      expect(await stage.store.ledger.totals(attempts.ref)).toMatchObject({
        attempts: 1,
        inputTokens: 100,
        costMicros: COST_MICROS,
        estimatedTokens: 0,
      });
    });
  });

  test('none at all: an estimate, marked as one', async () => {
    await ask({ kind: 'usage', variant: 'none' }, async (usage, attempts) => {
      // 'Reading it.' and '{"id":"T100"}' are 24 bytes.
      expect(usage).toMatchObject({ inputTokens: 400, outputTokens: 8, costMicros: 1_320, isEstimate: true });
      expect(await stage.store.ledger.totals(attempts.ref)).toMatchObject({ estimatedTokens: 408 });
    });
  });
});

describe('attempts that fail', () => {
  test.each<[string, FaultInput, Partial<Usage>]>([
    ['refused', { kind: 'status', status: 529 }, { inputTokens: 0, outputTokens: 0, isEstimate: false }],
    ['cut before it began', { kind: 'cut', at: { afterEvents: 0 } }, { inputTokens: 400, isEstimate: true }],
    [
      'cut after it began',
      { kind: 'cut', at: { afterEvents: 1 } },
      { inputTokens: 100, outputTokens: 1, isEstimate: true },
    ],
    ['cut at its end', { kind: 'cut', at: { point: 'before-message-stop' } }, { outputTokens: 30, isEstimate: false }],
    ['failing midway', { kind: 'error-mid-stream', at: { afterEvents: 1 } }, { inputTokens: 100, isEstimate: true }],
    ['truncated', { kind: 'max-tokens' }, { inputTokens: 100, isEstimate: false }],
    ['refusing', { kind: 'refusal' }, { inputTokens: 100, isEstimate: false }],
  ])('%s', async (_, fault, usage) => {
    await ask(fault, (settled) => {
      expect(settled).toMatchObject(usage);
      return Promise.resolve();
    });
  });

  test('five of them and a success: the ledger is the book, estimates apart, and no reservation is left', async () => {
    const faults: FaultInput[] = [
      { kind: 'status', status: 429 },
      { kind: 'cut', at: { point: 'before-message-stop' } },
      { kind: 'refusal', keepContent: true },
      { kind: 'max-tokens' },
      { kind: 'cut', at: { point: 'mid-block' } },
    ];
    await stage.use({ script: () => ANSWER, faults: faults.map((fault) => ({ fault })) }, async (attempts) => {
      for (let attempt = 1; attempt <= 6; attempt += 1) await attempts.run({ attempt });

      const { book, requests } = attempts.server;
      const entries = await stage.store.ledger.entries(attempts.ref);
      expect(requests).toHaveLength(6);
      expect(entries.filter((entry) => entry.isOpen)).toEqual([]);
      const known = entries.filter((entry) => !entry.usage.isEstimate).map((entry) => entry.usage);
      const estimated = entries.filter((entry) => entry.usage.isEstimate);
      expect(estimated.map((entry) => entry.reference)).toEqual(['attempt:1.5']);
      const billed = book.filter((entry) => entry.request !== 5);
      expect(sum(known, 'inputTokens')).toBe(sum(billed, 'inputTokens'));
      expect(sum(known, 'outputTokens')).toBe(sum(billed, 'outputTokens'));
      expect(sum(known, 'cacheReadTokens')).toBe(sum(billed, 'cacheReadTokens'));
      expect(sum(known, 'cacheWriteTokens')).toBe(sum(billed, 'cacheCreationTokens'));
      expect(await stage.store.ledger.totals(attempts.ref)).toMatchObject({
        attempts: 6,
        inputTokens: sum(book, 'inputTokens'),
        estimatedTokens: tokensOfUsage(estimated[0]?.usage),
      });
    });
  });
});

test('after a cancel was acknowledged nothing is asked, and nothing is counted', async () => {
  await stage.use({ script: () => ANSWER }, async (attempts) => {
    await stage.store.runs.requestCancel(attempts.ref);

    expect(await attempts.run()).toMatchObject({ kind: 'cancelRequested', totals: { attempts: 0 } });

    expect(attempts.server.requests).toEqual([]);
    expect(await stage.store.attempts.list(attempts.ref)).toEqual([]);
  });
});

describe('what is reserved', () => {
  const spare = (maxTokens: number, maxCostMicros = 50_000_000) => ({
    request: { limits: { ...REQUEST.limits, maxTokens, maxCostMicros } },
  });
  const maxTokensAsked = ({ server }: Attempts) =>
    server.requests.map(({ body }) => Number(/"max_tokens":(\d+)/.exec(body)?.[1]));

  test('all that the attempt wants, where the budget has it', async () => {
    await stage.use(spare(1_400), async (attempts) => {
      await attempts.run();

      expect(maxTokensAsked(attempts)).toEqual([1_000]);
    });
  });

  test('what the budget of tokens leaves', async () => {
    await stage.use(spare(1_399), async (attempts) => {
      expect(await attempts.run()).toMatchObject({ kind: 'candidateStored' });
      expect(maxTokensAsked(attempts)).toEqual([999]);
    });
  });

  test('what the budget of cost leaves', async () => {
    // 400 tokens of input at 3.75, and 300 of output at 15.
    await stage.use(spare(1_000_000, 6_000), async (attempts) => {
      expect(await attempts.run()).toMatchObject({ kind: 'candidateStored' });
      expect(maxTokensAsked(attempts)).toEqual([300]);
    });
  });

  test.each([
    [655, 50_000_000, 'tokens'],
    [1_000_000, 5_000, 'cost'],
    [10, 50_000_000, 'tokens'],
  ] as const)('nothing is asked with %d tokens and %d micros', async (maxTokens, maxCostMicros, budget) => {
    await stage.use(spare(maxTokens, maxCostMicros), async (attempts) => {
      expect(await attempts.run()).toMatchObject({ kind: 'budgetSpent', budget });
      expect(attempts.server.requests).toEqual([]);
      expect(await stage.store.attempts.list(attempts.ref)).toEqual([]);
    });
  });

  test('the room for thinking is no room for an answer', async () => {
    const thinking = { type: 'enabled' as const, budget_tokens: 1_024 };
    for (const [maxTokens, asked] of [
      [400 + 1_024 + 256, [1_280]],
      [400 + 1_024 + 255, []],
    ] as const) {
      const { request } = spare(maxTokens);
      await stage.use({ request: { ...request, thinking, maxOutputTokens: 4_000 } }, async (attempts) => {
        await attempts.run();

        expect(maxTokensAsked(attempts)).toEqual(asked);
      });
    }
  });

  test('what attempts before have spent counts', async () => {
    await stage.use({ script: () => ANSWER, ...spare(1_599) }, async (attempts) => {
      await attempts.run();
      await attempts.run({ step: 2 });

      // The first used 200 of the 1,599, which leaves 999 beside the second's input.
      expect(maxTokensAsked(attempts)).toEqual([1_000, 999]);
      expect(tokensOf(await stage.store.ledger.totals(attempts.ref))).toBe(400);
    });
  });
});

const sum = <Key extends keyof Usage | keyof BookEntry>(
  rows: readonly Partial<Record<Key, unknown>>[],
  key: Key,
): number => rows.reduce((total, row) => total + Number(row[key]), 0);

const tokensOfUsage = (usage: Usage | undefined): number =>
  usage === undefined ? 0 : usage.inputTokens + usage.outputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
