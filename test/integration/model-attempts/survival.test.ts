/** An attempt is asked once and settled once, whoever dies, comes late, or is away meanwhile. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ActivityCancellationDetails } from '@temporalio/common';
import type { LiveText } from '../../../activities/model/live-text';
import { StoreUnavailable } from '../../../store/errors';
import {
  redactedThinking,
  sequence,
  text,
  thinking,
  toolUse,
  turn,
  type Script,
  type Turn,
} from '../../../testing/model-server';
import type { MachineEvent } from '../../../workflows/contract/activities';
import { environment, REQUEST, ROUTE, setAttemptStage, type AttemptStage, type Attempts } from './attempt-stage';

type CancelReason = Parameters<ReturnType<typeof environment>['cancel']>[0];

let stage: AttemptStage;
beforeAll(async () => {
  stage = await setAttemptStage();
});
afterAll(async () => {
  await stage.close();
});

const SECRET = 'the-launch-code';
const FIGURES = { inputTokens: 100, outputTokens: 30, cacheReadTokens: 0, cacheCreationTokens: 0 };
const ANSWER = turn([text(SECRET), toolUse('read_ticket', { id: 'T100' })], { usage: FIGURES });

/** A model that answers when it is told to. */
function held(answer: Turn = ANSWER): { readonly script: Script; readonly release: () => void } {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  return {
    script: async () => {
      await released;
      return answer;
    },
    release: () => {
      release();
    },
  };
}

const reserved = { inputTokens: 400, outputTokens: 1_000, isEstimate: true };
const collectElsewhere = (attempts: Attempts) => attempts.run({ mode: 'collect' });
const openElsewhere = ({ ref, context }: Attempts) =>
  stage.store.attempts.open(
    { ref, events: [] },
    {
      step: 1,
      attempt: 1,
      context,
      reservation: { ...reserved, cacheReadTokens: 0, cacheWriteTokens: 0, costMicros: 16_500 },
      limits: REQUEST.limits,
    },
  );

describe('the same number again', () => {
  test('a stored candidate is returned, without a second call', async () => {
    await stage.use({ script: sequence([ANSWER]) }, async (attempts) => {
      const first = await attempts.run();

      expect(first).toMatchObject({ kind: 'candidateStored' });
      expect(await attempts.run()).toEqual(first);
      expect(await collectElsewhere(attempts)).toEqual(first);
      expect(attempts.server.requests).toHaveLength(1);
      expect(attempts.server.scriptFailures).toEqual([]);
    });
  });

  test('so is a failure, with what it said', async () => {
    const faults = [{ fault: { kind: 'status', status: 429, retryAfter: '30' } as const }];
    await stage.use({ faults }, async (attempts) => {
      const first = await attempts.run();

      expect(first).toMatchObject({ kind: 'attemptFailed', code: 'model.rate_limited', retryAfterMs: 30_000 });
      expect(await attempts.run()).toEqual(first);
      expect(await collectElsewhere(attempts)).toEqual(first);
      expect(attempts.server.requests).toHaveLength(1);
    });
  });

  test.each(['ask', 'collect'] as const)('what a dead worker left open is lost (%s), and not asked', async (mode) => {
    await stage.use({}, async (attempts) => {
      await openElsewhere(attempts);

      expect(await attempts.run({ mode })).toMatchObject({ kind: 'attemptLost' });
      expect(await attempts.run()).toMatchObject({ kind: 'attemptLost' });
      expect(await attempts.row()).toMatchObject({ state: 'LOST', usage: reserved });
      expect(attempts.server.requests).toEqual([]);
    });
  });

  test('one that was never opened is lost for nothing, also for who opens it late', async () => {
    await stage.use({}, async (attempts) => {
      expect(await collectElsewhere(attempts)).toMatchObject({ kind: 'attemptLost' });
      expect(await attempts.run()).toMatchObject({ kind: 'attemptLost' });
      expect(attempts.server.requests).toEqual([]);
      expect((await attempts.row()).usage).toMatchObject({ inputTokens: 0, outputTokens: 0, costMicros: 0 });
    });
  });

  test('the events of the step before are written once, whoever brings them', async () => {
    const event: MachineEvent = {
      seq: 1,
      from: 'READY',
      event: 'contextFrozen',
      to: 'MODEL_RUNNING',
      rule: 'context.frozen',
      at: 1_700_000_000_000,
      cause: { step: 1 },
    };
    await stage.use({}, async (attempts) => {
      await attempts.run({ events: [event] });
      await attempts.run({ events: [event] });
      await attempts.run({ events: [event], mode: 'collect' });

      expect(await stage.store.journal.machineEvents(attempts.ref)).toEqual([event]);
    });
  });
});

test('who finishes after the attempt was lost leaves a late artifact and the real cost, and no candidate', async () => {
  const { script, release } = held();
  await stage.use({ script }, async (attempts) => {
    const asking = attempts.run();
    await attempts.server.whenReceived(1);
    expect(await collectElsewhere(attempts)).toMatchObject({ kind: 'attemptLost' });
    expect(await stage.store.ledger.totals(attempts.ref)).toMatchObject({
      outputTokens: 1_000,
      estimatedTokens: 1_400,
    });
    release();

    expect(await asking).toMatchObject({ kind: 'attemptLost' });

    const row = await attempts.row();
    expect(row).toMatchObject({ state: 'LOST', usage: { inputTokens: 100, outputTokens: 30, isEstimate: false } });
    expect(row.candidate).toBeUndefined();
    expect(await stage.store.ledger.totals(attempts.ref)).toMatchObject({ outputTokens: 30, estimatedTokens: 0 });
    const [late] = (await stage.store.journal.list(attempts.ref, { after: 0, limit: 10 })).map(({ body }) => body);
    expect(late).toMatchObject({ kind: 'attemptLate', step: 1, attempt: 1, artifact: expect.any(String) });
  });
});

describe('interrupted in the middle of the stream', () => {
  const stalled = { script: () => ANSWER, faults: [{ fault: { kind: 'stall', at: { afterEvents: 3 } } as const }] };

  const interrupt = async (attempts: Attempts, reason: CancelReason, details: ActivityCancellationDetails) => {
    const worker = environment();
    const asking = attempts.run({}, worker);
    const texts = attempts.texts;
    await waitUntil(() => texts.some((live) => live.kind === 'text'));
    worker.cancel(reason, details);
    return asking.then(
      () => Promise.reject(new Error('it was not interrupted')),
      (error: unknown) => error,
    );
  };

  test('by a cancel: failed, paid for what had come, and the connection is closed', async () => {
    await stage.use(stalled, async (attempts) => {
      const error = await interrupt(attempts, 'CANCELLED', new ActivityCancellationDetails({ cancelRequested: true }));

      expect(error).toMatchObject({ name: 'CancelledFailure' });
      const row = await attempts.row();
      expect(row).toMatchObject({
        state: 'FAILED',
        outcome: { kind: 'attemptFailed', code: 'model.interrupted' },
        usage: { inputTokens: 100, outputTokens: 5, isEstimate: true },
      });
      expect(await attempts.candidate(row.candidate)).toMatchObject({ isComplete: false });
      await attempts.server.when(([request]) => request?.outcome.kind === 'abandoned');
    });
  });

  test('by a shutdown: handed over as lost, never taken for a cancel', async () => {
    await stage.use(stalled, async (attempts) => {
      const error = await interrupt(
        attempts,
        'WORKER_SHUTDOWN',
        new ActivityCancellationDetails({ workerShutdown: true }),
      );

      expect(error).toMatchObject({ name: 'ApplicationFailure', type: 'WorkerShutdown' });
      expect(await attempts.row()).toMatchObject({
        state: 'LOST',
        usage: { inputTokens: 100, outputTokens: 5, isEstimate: true },
      });
      expect(await collectElsewhere(attempts)).toMatchObject({ kind: 'attemptLost' });
      expect(attempts.server.requests).toHaveLength(1);
    });
  });

  test('because nobody waits any more: lost', async () => {
    await stage.use(stalled, async (attempts) => {
      const error = await interrupt(attempts, 'NOT_FOUND', new ActivityCancellationDetails({ notFound: true }));

      expect(error).toMatchObject({ name: 'CancelledFailure' });
      expect(await attempts.row()).toMatchObject({ state: 'LOST' });
    });
  });

  test('before the request left: nothing was asked, nothing is counted', async () => {
    await stage.use({}, async (attempts) => {
      const worker = environment();
      worker.cancel('CANCELLED', new ActivityCancellationDetails({ cancelRequested: true }));

      await expect(attempts.run({}, worker)).rejects.toMatchObject({ name: 'CancelledFailure' });

      expect(attempts.server.requests).toEqual([]);
      expect(await attempts.row()).toMatchObject({ state: 'FAILED', usage: { inputTokens: 0, isEstimate: false } });
    });
  });

  test('after the answer has come: the candidate is stored all the same', async () => {
    const { script, release } = held();
    await stage.use({ script }, async (attempts) => {
      const worker = environment();
      const asking = attempts.run({}, worker);
      await attempts.server.whenReceived(1);
      stage.proxy.cut();
      release();
      await stage.proxy.whenRefused();
      worker.cancel('WORKER_SHUTDOWN', new ActivityCancellationDetails({ workerShutdown: true }));
      stage.proxy.mend();

      expect(await asking).toMatchObject({ kind: 'candidateStored' });
      expect(await attempts.row()).toMatchObject({ state: 'STORED' });
    });
  });
});

describe('while the database is away', () => {
  afterAll(() => {
    stage.proxy.mend();
  });

  const overloaded = { ...ANSWER, fault: { kind: 'error-mid-stream', at: { afterEvents: 1 } } as const };

  test.each<[string, Turn, string, string]>([
    ['an answer', ANSWER, 'candidateStored', 'STORED'],
    ['an error', overloaded, 'attemptFailed', 'FAILED'],
  ])('%s in hand is kept, beating, and recorded when it is back', async (_, answer, kind, state) => {
    const { script, release } = held(answer);
    await stage.use({ script }, async (attempts) => {
      let beats = 0;
      const worker = environment();
      worker.on('heartbeat', () => (beats += 1));
      const asking = attempts.run({}, worker);
      await attempts.server.whenReceived(1);
      stage.proxy.cut();
      release();
      await stage.proxy.whenRefused();
      const before = beats;
      await waitUntil(() => beats >= before + 2);
      stage.proxy.mend();

      expect(await asking).toMatchObject({ kind });
      expect(attempts.server.requests).toHaveLength(1);
      expect(await attempts.row()).toMatchObject({ state });
    });
  });

  test('nothing is asked before the row is open', async () => {
    await stage.use({}, async (attempts) => {
      stage.proxy.cut();
      const asking = attempts.run();
      await stage.proxy.whenRefused();
      expect(attempts.server.requests).toEqual([]);
      stage.proxy.mend();

      expect(await asking).toMatchObject({ kind: 'candidateStored' });
      expect(attempts.server.requests).toHaveLength(1);
    });
  });

  test('beyond the grace the activity gives up, and the attempt is left to be collected', async () => {
    const { script, release } = held();
    await stage.use({ script, storeGraceMs: 200 }, async (attempts) => {
      const asking = attempts.run();
      await attempts.server.whenReceived(1);
      stage.proxy.cut();
      release();

      await expect(asking).rejects.toBeInstanceOf(StoreUnavailable);
      stage.proxy.mend();
      expect(await attempts.row()).toMatchObject({ state: 'OPEN' });
      expect(await collectElsewhere(attempts)).toMatchObject({ kind: 'attemptLost' });
    });
  });

  test('a collect does not wait: the engine repeats it', async () => {
    await stage.use({}, async (attempts) => {
      stage.proxy.cut();
      const collecting = collectElsewhere(attempts);

      await expect(collecting).rejects.toBeInstanceOf(StoreUnavailable);
      stage.proxy.mend();
    });
  });
});

describe('what is seen meanwhile', () => {
  test('text in order after a reset, never thinking or arguments', async () => {
    const answer = turn([
      thinking('Not to be shown.'),
      redactedThinking(),
      text('One two three four five six seven eight.'),
      toolUse('read_ticket', { id: 'T100' }),
    ]);
    const faults = [{ fault: { kind: 'cut', at: { point: 'mid-block', block: 2 } } as const }];
    await stage.use({ script: () => answer, faults }, async (attempts) => {
      await attempts.run();
      const first = attempts.texts.length;
      await attempts.run({ attempt: 2 });

      const { ref, texts } = attempts;
      expect(texts[0]).toEqual({ kind: 'reset', tenant: ref.tenant, run: ref.run, step: 1, attempt: 1 });
      expect(texts[first]).toMatchObject({ kind: 'reset', attempt: 2 });
      expect(texts.at(-1)).toMatchObject({ kind: 'ended', attempt: 2 });
      const second = texts.slice(first + 1, -1);
      expect(second.map((live) => 'index' in live && live.index)).toEqual(second.map((_, index) => index));
      expect(textOf(second)).toBe('One two three four five six seven eight.');
      expect(textOf(texts.slice(1, first))).toMatch(/^One/);
      expect(second.every((live) => live.attempt === 2)).toBe(true);
    });
  });

  test('a viewer that fails changes nothing', async () => {
    const onText = () => {
      throw new Error('the viewer is gone');
    };
    await stage.use({ onText }, async (attempts) => {
      expect(await attempts.run()).toMatchObject({ kind: 'candidateStored' });
    });
  });

  test('beats come by their own clock while the stream is silent', async () => {
    const faults = [{ fault: { kind: 'stall' } as const }];
    const request = { route: { ...ROUTE, idleTimeoutMs: 1_900 } };
    await stage.use({ faults, request }, async (attempts) => {
      const worker = environment();
      let beats = 0;
      worker.on('heartbeat', () => (beats += 1));

      expect(await attempts.run({}, worker)).toMatchObject({ code: 'model.stalled' });

      expect(beats).toBeGreaterThanOrEqual(3);
    });
  });

  test('log lines name the attempt and the provider’s request, never what was said', async () => {
    await stage.use({ script: () => ANSWER }, async (attempts) => {
      await attempts.run();

      const { ref, server, logs } = attempts;
      expect(logs).toEqual([
        expect.objectContaining({
          tenant: ref.tenant,
          run: ref.run,
          step: 1,
          attempt: 1,
          requestId: server.requests[0]?.requestId,
          outcome: 'candidateStored',
          stopReason: 'tool_use',
        }),
      ]);
      expect(JSON.stringify(logs)).not.toContain(SECRET);
      expect(JSON.stringify(logs)).not.toContain('T100');
    });
  });
});

const textOf = (texts: readonly LiveText[]): string => texts.map((live) => ('text' in live ? live.text : '')).join('');

const POLL_MS = 10;
const GIVE_UP_MS = 20_000;

async function waitUntil(holds: () => boolean): Promise<void> {
  const until = performance.now() + GIVE_UP_MS;
  await new Promise<void>((resolve, reject) => {
    const poll = setInterval(() => {
      if (!holds() && performance.now() < until) return;
      clearInterval(poll);
      if (holds()) resolve();
      else reject(new Error('it never came'));
    }, POLL_MS);
  });
}
