import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  FIRST_LOOK_UP_MS,
  MAX_GENERATIONS,
  MAX_LOOK_UPS,
  nextForUnknown,
  quietInMs,
  type Inquiry,
  type SentOperation,
  type ToolTraits,
  type UnknownNext,
} from '../../../../activities/operate/next-for-unknown';

const HOUR = 3_600_000;
/** When everything is quiet: the dispatch deadline, 10 s after the send at 0, and a settle window of 5 s. */
const QUIET = 15_000;

const TRAITS: ToolTraits = {
  canLookUp: true,
  isLookUpAuthoritative: true,
  idempotency: 'key',
  settleWindowMs: 5_000,
  keyRetentionMs: 24 * HOUR,
  maxLookUps: MAX_LOOK_UPS,
  timeoutMs: 10_000,
};
const SENT: SentOperation = {
  generation: 1,
  lookUps: 0,
  firstDispatchedAt: 0,
  dispatchDeadlineAt: 10_000,
  code: 'OUTCOME_UNKNOWN',
};

type Kind = 'a' | 'a, not authoritative' | 'b' | 'c' | 'c, authoritative' | 'd' | 'a, by version';
const KINDS: Readonly<Record<Kind, Partial<ToolTraits>>> = {
  a: {},
  'a, not authoritative': { isLookUpAuthoritative: false },
  'a, by version': { idempotency: 'version' },
  b: { canLookUp: false, isLookUpAuthoritative: false, settleWindowMs: 0 },
  c: { idempotency: 'none', isLookUpAuthoritative: false },
  'c, authoritative': { idempotency: 'none' },
  d: { idempotency: 'none', canLookUp: false, isLookUpAuthoritative: false, settleWindowMs: 0 },
};

interface Case extends Partial<Omit<Inquiry, 'traits' | 'operation'>> {
  readonly traits?: Partial<ToolTraits>;
  readonly operation?: Partial<SentOperation>;
}

const ask = (kind: Kind, { traits = {}, operation = {}, ...rest }: Case = {}): UnknownNext =>
  nextForUnknown({
    traits: { ...TRAITS, ...KINDS[kind], ...traits },
    operation: { ...SENT, ...operation },
    now: QUIET,
    isStopped: false,
    ...rest,
  });

const person = (why: string): object => ({ kind: 'person', why: `unknown.${why}` });
const lookUp = (afterMs: number): object => ({ kind: 'lookUp', afterMs });
const resend = (afterMs: number): object => ({ kind: 'resend', afterMs });
const settled = (state: string, code?: string): object => ({
  kind: 'settled',
  state,
  ...(code === undefined ? {} : { code }),
});

describe('the four kinds, by what the tool declares', () => {
  // prettier-ignore
  test.each<[string, Kind, Case, object]>([
    // (a)
    ['asks first',                                  'a',                    { now: 20 },                                         lookUp(FIRST_LOOK_UP_MS)],
    ['found',                                       'a',                    { answer: 'found' },                                 settled('SUCCEEDED')],
    ['found before it is quiet',                    'a',                    { answer: 'found', now: 20 },                        settled('SUCCEEDED')],
    ['failed there',                                'a',                    { answer: 'failed' },                                settled('FAILED')],
    ['cancelled there',                             'a',                    { answer: 'cancelled' },                             settled('CANCELLED')],
    ['under way there',                             'a',                    { answer: 'running' },                               settled('RUNNING')],
    ['not found, sender may still be sending',      'a',                    { answer: 'notFound', now: 1_000, operation: { lookUps: 1 } },   lookUp(14_000)],
    ['not found in the settle window (R12)',        'a',                    { answer: 'notFound', now: 14_999, operation: { lookUps: 1 } },  lookUp(1)],
    ['not found by a question begun too early',     'a',                    { answer: 'notFound', askedAt: 14_999, operation: { lookUps: 1 } }, lookUp(1)],
    ['not found once it is quiet',                  'a',                    { answer: 'notFound' },                              resend(0)],
    ['not found, look-up that may miss it',         'a, not authoritative', { answer: 'notFound' },                              resend(0)],
    ['not found, stale versions are refused',       'a, by version',        { answer: 'notFound' },                              resend(0)],
    ['not found, key forgotten by then (R11)',      'a',                    { answer: 'notFound', now: 48 * HOUR },              person('key_forgotten')],
    ['not found, versions are never forgotten',     'a, by version',        { answer: 'notFound', now: 48 * HOUR },              resend(0)],
    ['not found, key forgotten during the send',    'a',                    { answer: 'notFound', now: 24 * HOUR - 10_000 },     person('key_forgotten')],
    ['not found, key just remembered long enough',  'a',                    { answer: 'notFound', now: 24 * HOUR - 10_001 },     resend(0)],
    // (b)
    ['waits for the deadline',                      'b',                    { now: 20 },                                         resend(9_980)],
    ['sends again after it',                        'b',                    { now: 10_000 },                                     resend(0)],
    ['key forgotten (R11)',                         'b',                    { now: 48 * HOUR },                                  person('key_forgotten')],
    // (c)
    ['asks first',                                  'c',                    { now: 20 },                                         lookUp(FIRST_LOOK_UP_MS)],
    ['found',                                       'c',                    { answer: 'found' },                                 settled('SUCCEEDED')],
    ['not found, too early',                        'c',                    { answer: 'notFound', now: 20, operation: { lookUps: 1 } }, lookUp(14_980)],
    ['not found',                                   'c',                    { answer: 'notFound' },                              person('not_found_proves_nothing')],
    ['not found, which is proof there',             'c, authoritative',     { answer: 'notFound' },                              settled('NOT_EXECUTED')],
    // (d)
    ['asked too early, a person could only guess',  'd',                    { now: 20 },                                         lookUp(9_980)],
    ['a person (B5)',                               'd',                    { now: 10_000 },                                     person('no_way_to_ask')],
  ])('%s (%s)', (_title, kind, given, expected) => {
    expect(ask(kind, given)).toEqual(expected);
  });
});

describe('bounds', () => {
  // prettier-ignore
  test.each<[string, Kind, Case, object]>([
    ['a look-up that is down is asked again later (B4)',    'a', { answer: 'cannotTell', operation: { lookUps: 1 } },             lookUp(1_000)],
    ['… and later',                                         'a', { answer: 'cannotTell', operation: { lookUps: 4 } },             lookUp(8_000)],
    ['… at most a minute later',                            'a', { answer: 'cannotTell', operation: { lookUps: 12, generation: 2 } }, lookUp(60_000)],
    ['… then a person',                                     'a', { answer: 'cannotTell', operation: { lookUps: MAX_LOOK_UPS } },  person('look_up_failed')],
    ['… as the tool says',                                  'a', { traits: { maxLookUps: 2 }, answer: 'cannotTell', operation: { lookUps: 2 } }, person('look_up_failed')],
    ['each send has look-ups of its own',                   'a', { answer: 'cannotTell', operation: { lookUps: MAX_LOOK_UPS, generation: 2 } }, lookUp(60_000)],
    ['a retry-after is waited out before the next look-up', 'a', { now: 20, operation: { notBeforeAt: 30_020 } },                 lookUp(30_000)],
    ['… and before the next send',                          'b', { now: 10_000, operation: { notBeforeAt: 40_000 } },             resend(30_000)],
    ['the fifth send is the last (b)',                      'b', { now: 10_000, operation: { generation: MAX_GENERATIONS } },     person('sends_spent')],
    ['the fifth send is the last (a)',                      'a, not authoritative', { answer: 'notFound', operation: { generation: MAX_GENERATIONS } }, person('sends_spent')],
    ['… and proved unexecuted where the look-up is proof',  'a', { answer: 'notFound', operation: { generation: MAX_GENERATIONS } }, settled('NOT_EXECUTED')],
  ])('%s', (_title, kind, given, expected) => {
    expect(ask(kind, given)).toEqual(expected);
  });
});

describe('stopped: by a cancel, a newer plan, the end, or policy', () => {
  // prettier-ignore
  test.each<[string, Kind, Case, object]>([
    ['is still looked up',                       'a',                    { now: 20 },                                             lookUp(FIRST_LOOK_UP_MS)],
    ['found',                                    'a',                    { answer: 'found' },                                     settled('SUCCEEDED')],
    ['not found, which is proof',                'a',                    { answer: 'notFound' },                                  settled('CANCELLED', 'CANCELLED')],
    ['not found, which is proof (c)',            'c, authoritative',     { answer: 'notFound' },                                  settled('CANCELLED', 'CANCELLED')],
    ['not found, before that is proof',          'a',                    { answer: 'notFound', now: 20, operation: { lookUps: 1 } }, lookUp(14_980)],
    ['not found, no proof: looked up on',        'a, not authoritative', { answer: 'notFound', operation: { lookUps: 2 } },       lookUp(2_000)],
    ['… then a person',                          'a, not authoritative', { answer: 'notFound', operation: { lookUps: MAX_LOOK_UPS } }, person('look_up_failed')],
    ['nobody to ask: never sent again',          'b',                    { now: 10_000 },                                         person('stopped')],
  ])('%s', (_title, kind, given, expected) => {
    expect(ask(kind, { ...given, isStopped: true })).toEqual(expected);
  });
});

describe('contradictions, faults and refusals', () => {
  // prettier-ignore
  test.each<[string, Kind, Case, object]>([
    ['known there once by its job, and now not (R14)',       'a', { answer: 'notFound', operation: { job: 'J3' } },                 person('contradiction')],
    ['… also before it is quiet',                            'a', { answer: 'notFound', now: 20, operation: { job: 'J3' } },        person('contradiction')],
    ['a job that nobody can be asked about is never sent',   'b', { now: 10_000, operation: { job: 'J3' } },                        person('job_lost')],
    ['our own fault, provably unexecuted',                   'a', { answer: 'notFound', operation: { code: 'TOOL_FAULT' } },        settled('FAILED', 'TOOL_FAULT')],
    ['our own fault is not sent again',                      'b', { now: 10_000, operation: { code: 'TOOL_FAULT' } },               person('tool_fault')],
    ['our own fault, and it happened all the same',          'a', { answer: 'found', operation: { code: 'TOOL_FAULT' } },           settled('SUCCEEDED')],
    ['a later send refused, the first found (B13)',          'a', { answer: 'found', refusal: 'PERMISSION_DENIED', operation: { generation: 2 } }, settled('SUCCEEDED')],
    ['a later send refused, the first not to be seen yet',   'a', { refusal: 'PERMISSION_DENIED', now: 20, operation: { generation: 2 } }, lookUp(FIRST_LOOK_UP_MS)],
    ['a later send refused, the first proved unexecuted',    'a', { answer: 'notFound', refusal: 'PERMISSION_DENIED', operation: { generation: 2 } }, settled('FAILED', 'PERMISSION_DENIED')],
    ['a later send refused, the first not found',            'a, not authoritative', { answer: 'notFound', refusal: 'STATE_CONFLICT', operation: { generation: 2 } }, person('refused_later')],
  ])('%s', (_title, kind, given, expected) => {
    expect(ask(kind, given)).toEqual(expected);
  });
});

const timeOf = (
  { traits, operation }: Pick<Inquiry, 'traits' | 'operation'>,
  { from, ms }: { readonly from: 'start' | 'quiet' | 'forgotten'; readonly ms: number },
): number => {
  const { dispatchDeadlineAt = 0, notBeforeAt = 0, firstDispatchedAt = 0 } = operation;
  const starts = {
    start: 0,
    quiet: Math.max(dispatchDeadlineAt + traits.settleWindowMs, notBeforeAt),
    forgotten: firstDispatchedAt + traits.keyRetentionMs - traits.timeoutMs,
  };
  return Math.max(0, starts[from] + ms);
};

const inquiries: fc.Arbitrary<Inquiry> = fc
  .record({
    traits: fc.record({
      canLookUp: fc.boolean(),
      isLookUpAuthoritative: fc.boolean(),
      idempotency: fc.constantFrom('key' as const, 'version' as const, 'none' as const),
      settleWindowMs: fc.nat(60_000),
      keyRetentionMs: fc.nat(48 * HOUR),
      maxLookUps: fc.constant(MAX_LOOK_UPS),
      timeoutMs: fc.integer({ min: 1, max: 600_000 }),
    }),
    operation: fc.record(
      {
        generation: fc.integer({ min: 1, max: 7 }),
        lookUps: fc.nat(60),
        firstDispatchedAt: fc.nat(HOUR),
        dispatchDeadlineAt: fc.nat(HOUR),
        notBeforeAt: fc.nat(2 * HOUR),
        job: fc.constant('J3'),
        code: fc.constantFrom('OUTCOME_UNKNOWN' as const, 'TOOL_FAULT' as const),
      },
      { requiredKeys: ['generation', 'lookUps', 'firstDispatchedAt', 'dispatchDeadlineAt'] },
    ),
    /** Anywhere, or about where something changes. */
    when: fc.oneof(
      fc.record({ from: fc.constant('start' as const), ms: fc.nat(60 * HOUR) }),
      fc.record({
        from: fc.constantFrom('quiet' as const, 'forgotten' as const),
        ms: fc.integer({ min: -90_000, max: 90_000 }),
      }),
    ),
    isStopped: fc.boolean(),
    answer: fc.constantFrom('found', 'failed', 'running', 'cancelled', 'notFound', 'cannotTell', undefined),
    askedAgo: fc.nat(60_000),
    refusal: fc.constantFrom('PERMISSION_DENIED' as const, undefined),
  })
  .map(({ answer, askedAgo, refusal, when, ...inquiry }) => ({
    ...inquiry,
    answer,
    askedAgo,
    refusal,
    now: timeOf(inquiry, when),
  }))
  .map(({ answer, askedAgo, refusal, ...inquiry }) => ({
    ...inquiry,
    ...(answer === undefined ? {} : { answer, askedAt: inquiry.now - askedAgo }),
    ...(refusal === undefined ? {} : { refusal }),
  }));

/** What may lead to a request that acts: a send now or later, or the row that allows one. */
const leadsToSend = (next: UnknownNext): boolean =>
  next.kind === 'resend' || (next.kind === 'settled' && next.state === 'NOT_EXECUTED');

describe('for every operation', () => {
  const holds = (title: string, property: (inquiry: Inquiry, next: UnknownNext) => void): void => {
    test(title, () => {
      fc.assert(
        fc.property(inquiries, (inquiry) => property(inquiry, nextForUnknown(inquiry))),
        { numRuns: 3_000 },
      );
    });
  };

  holds('nothing is sent before deadline, settle window and back-off are over', (inquiry, next) => {
    if (!leadsToSend(next)) return;
    const afterMs = next.kind === 'resend' ? next.afterMs : 0;
    const { operation, traits, now } = inquiry;
    expect(now + afterMs).toBeGreaterThanOrEqual((operation.dispatchDeadlineAt ?? 0) + traits.settleWindowMs);
    expect(now + afterMs).toBeGreaterThanOrEqual(operation.notBeforeAt ?? 0);
  });

  holds('nothing is sent on a "not found" that was asked before it was quiet', (inquiry, next) => {
    if (inquiry.answer !== 'notFound' || !leadsToSend(next)) return;
    expect(quietInMs({ ...inquiry, now: inquiry.askedAt ?? inquiry.now })).toBe(0);
  });

  holds('nothing is sent with neither key nor version nor an authoritative "not found"', (inquiry, next) => {
    if (!leadsToSend(next) || inquiry.traits.idempotency !== 'none') return;
    expect(inquiry).toMatchObject({ answer: 'notFound', traits: { isLookUpAuthoritative: true } });
  });

  holds('where a look-up can be made, nothing is sent unless it said "not found"', (inquiry, next) => {
    if (leadsToSend(next) && inquiry.traits.canLookUp) expect(inquiry.answer).toBe('notFound');
  });

  holds('nothing is sent once stopped', (inquiry, next) => {
    if (inquiry.isStopped) expect(leadsToSend(next)).toBe(false);
  });

  holds('nothing is sent that the far side took as a job, or that our own tool cannot send', (inquiry, next) => {
    const { job, code } = inquiry.operation;
    if (job !== undefined || code === 'TOOL_FAULT') expect(leadsToSend(next)).toBe(false);
  });

  holds('no key is used that may be forgotten before the send has arrived', (inquiry, next) => {
    const { traits, operation, now } = inquiry;
    if (next.kind !== 'resend' || traits.idempotency !== 'key') return;
    expect(now + next.afterMs + traits.timeoutMs).toBeLessThan(
      (operation.firstDispatchedAt ?? 0) + traits.keyRetentionMs,
    );
  });

  holds('sends are bounded', (inquiry, next) => {
    if (next.kind === 'resend') expect(inquiry.operation.generation).toBeLessThan(MAX_GENERATIONS);
  });

  holds('look-ups are bounded, and waits are times', (inquiry, next) => {
    if (next.kind !== 'lookUp') return;
    expect(next.afterMs).toBeGreaterThan(0);
    const { lookUps, generation } = inquiry.operation;
    if (inquiry.traits.canLookUp) expect(lookUps).toBeLessThan(MAX_LOOK_UPS * generation);
  });
});
