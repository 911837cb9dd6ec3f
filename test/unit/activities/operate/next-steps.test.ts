import { describe, expect, test } from '@jest/globals';
import { MAX_GENERATIONS } from '../../../../activities/operate/next-for-unknown';
import { nextForUnsent, sendBackOffMs, type Unsent } from '../../../../activities/operate/next-for-unsent';
import { nextPoll, type PolledJob } from '../../../../activities/operate/next-poll';
import { MAX_READ_WAIT_MS, retryAfterMs } from '../../../../activities/operate/read-retries';

describe('a write that is proved unexecuted', () => {
  const ask = (changes: Partial<Unsent> = {}): object =>
    nextForUnsent({ operation: { generation: 1, code: 'RATE_LIMITED' }, now: 1_000, ...changes });
  const operation = (changes: object): Unsent['operation'] => ({ generation: 1, code: 'RATE_LIMITED', ...changes });

  // prettier-ignore
  test.each<[string, Partial<Unsent>, object]>([
    ['is sent again',                                  {},                                                                    { kind: 'resend', afterMs: 0 }],
    ['after its back-off',                             { operation: operation({ notBeforeAt: 3_500 }) },                      { kind: 'resend', afterMs: 2_500 }],
    ['inside the deadline of the run',                 { operation: operation({ notBeforeAt: 3_500 }), deadlineAt: 3_501 },   { kind: 'resend', afterMs: 2_500 }],
    ['not past it: it has failed for the same reason', { operation: operation({ notBeforeAt: 3_500 }), deadlineAt: 3_500 },   { kind: 'settled', state: 'FAILED', code: 'RATE_LIMITED' }],
    ['the last send was its last',                     { operation: operation({ generation: MAX_GENERATIONS }) },             { kind: 'settled', state: 'FAILED', code: 'RATE_LIMITED' }],
    ['without a reason of its own',                    { operation: { generation: MAX_GENERATIONS } },                        { kind: 'settled', state: 'FAILED', code: 'UNAVAILABLE' }],
    ['stopped: called off',                            { stoppedWith: 'SUPERSEDED' },                                         { kind: 'settled', state: 'CANCELLED', code: 'SUPERSEDED' }],
  ])('%s', (_title, changes, expected) => {
    expect(ask(changes)).toEqual(expected);
  });

  test.each([
    [1, undefined, 500],
    [2, undefined, 1_000],
    [4, undefined, 4_000],
    [9, undefined, 30_000],
    [1, 2_000, 2_000],
    [9, 90_000, 90_000],
    [3, 10, 2_000],
  ])('after send %i, asked to wait %s, the next is after %i ms', (generation, asked, expected) => {
    expect(sendBackOffMs(generation, asked)).toBe(expected);
  });
});

describe('a job', () => {
  const ask = (changes: Partial<PolledJob> = {}): object =>
    nextPoll({
      poll: { everyMs: 2_000, limitMs: 60_000 },
      expectedDurationMs: undefined,
      operation: { dispatchedAt: 0, polls: 1 },
      now: 10_000,
      answer: undefined,
      ...changes,
    });

  // prettier-ignore
  test.each<[string, Partial<PolledJob>, object]>([
    ['is asked about by the schedule',              {},                                                                    { kind: 'poll', afterMs: 2_000 }],
    ['at the latest at its limit',                  { now: 59_000 },                                                       { kind: 'poll', afterMs: 1_000 }],
    ['is lost past its limit',                      { now: 60_000 },                                                       { kind: 'unknown' }],
    ['is lost where nobody has heard of it',        { answer: 'notFound' },                                                { kind: 'unknown' }],
    ['is asked about less often without an answer', { answer: 'cannotTell' },                                              { kind: 'poll', afterMs: 4_000 }],
    ['… and less often still',                      { answer: 'cannotTell', operation: { dispatchedAt: 0, polls: 4 } },    { kind: 'poll', afterMs: 32_000 }],
    ['… at most once a minute',                     { answer: 'cannotTell', operation: { dispatchedAt: 0, polls: 9 }, poll: { everyMs: 2_000, limitMs: 600_000 } }, { kind: 'poll', afterMs: 60_000 }],
    ['… or as seldom as the schedule says',         { answer: 'cannotTell', poll: { everyMs: 300_000, limitMs: 900_000 } }, { kind: 'poll', afterMs: 300_000 }],
    ['of a tool that only calls back is looked at', { poll: undefined },                                                   { kind: 'poll', afterMs: 60_000 }],
    ['… until a day has passed',                    { poll: undefined, now: 24 * 3_600_000 },                              { kind: 'unknown' }],
    ['… or twice as long as it is expected to take', { poll: undefined, expectedDurationMs: 24 * 3_600_000, now: 24 * 3_600_000 }, { kind: 'poll', afterMs: 60_000 }],
  ])('%s', (_title, changes, expected) => {
    expect(ask(changes)).toEqual(expected);
  });
});

describe('a read that was refused for a moment', () => {
  // prettier-ignore
  test.each<[string, number | undefined, { tries: number; deadlineAt?: number }, number | undefined]>([
    ['is tried again soon',                          undefined,             { tries: 1 },                       500],
    ['then later',                                   undefined,             { tries: 2 },                       1_000],
    ['not before the far side wants it',             5_000,                 { tries: 1 },                       5_000],
    ['not where it would have to wait too long',     MAX_READ_WAIT_MS + 1,  { tries: 1 },                       undefined],
    ['not past the deadline of the run',             5_000,                 { tries: 1, deadlineAt: 105_000 },  undefined],
    ['just inside it',                               5_000,                 { tries: 1, deadlineAt: 105_001 },  5_000],
  ])('%s', (_title, asked, tried, expected) => {
    expect(retryAfterMs(asked === undefined ? {} : { retryAfterMs: asked }, { now: 100_000, ...tried })).toBe(expected);
  });
});
