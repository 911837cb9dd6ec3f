import { describe, expect, test } from '@jest/globals';
import type { FrozenContext, Judged, MachineEvent } from '../../../../workflows/contract/activities';
import {
  packContext,
  packEvents,
  packJudged,
  packTotals,
  unpackContext,
  unpackEvents,
  unpackJudged,
  unpackTotals,
} from '../../../../workflows/contract/wire';
import { parseArtifactHash } from '../../../../workflows/contract/ids';
import { NO_TOTALS } from '../../../../workflows/machine/ledger';

const EVENTS: readonly MachineEvent[] = [
  {
    seq: 7,
    from: 'MODEL_RUNNING',
    event: 'candidateStored',
    to: 'VALIDATING',
    rule: 'candidate.stored',
    at: 1_000,
    cause: { step: 2, attempt: 1 },
  },
  {
    seq: 8,
    from: 'VALIDATING',
    event: 'callsJudged',
    to: 'TOOL_RUNNING',
    rule: 'calls.judged',
    at: 1_000,
    cause: { step: 2 },
  },
  {
    seq: 9,
    from: 'TOOL_RUNNING',
    event: 'readEnded',
    to: 'TOOL_RUNNING',
    rule: 'ignored',
    at: 1_250,
    cause: { step: 1, ordinal: 1, code: 'NOT_FOUND' },
  },
];

/** What arrives on the other side. */
const sent = <Value>(value: Value): Value => structuredClone(value);

describe('events', () => {
  test('arrive as they were, in less than two thirds of the bytes', () => {
    const packed = sent(packEvents(EVENTS));
    expect(unpackEvents(packed)).toEqual(EVENTS);
    expect(JSON.stringify(packed).length).toBeLessThan((JSON.stringify(EVENTS).length * 2) / 3);
  });

  test.each([
    ['none', []],
    ['a gap in the numbers', EVENTS.filter(({ seq }) => seq !== 8)],
    ['one that begins elsewhere', EVENTS.map((event) => ({ ...event, from: 'READY' as const }))],
    ['one event', EVENTS.slice(1, 2)],
  ])('arrive as they were: %s', (_what, events) => {
    expect(unpackEvents(sent(packEvents(events)))).toEqual(events);
  });

  test('in their full shape are taken as they are', () => {
    expect(unpackEvents(EVENTS)).toEqual(EVENTS);
  });
});

describe('totals', () => {
  test('arrive as they were, without the zeros', () => {
    const totals = { ...NO_TOTALS, steps: 3, costMicros: 12 };
    expect(packTotals(totals)).toEqual({ steps: 3, costMicros: 12 });
    expect(unpackTotals(packTotals(totals))).toEqual(totals);
    expect(unpackTotals(packTotals(NO_TOTALS))).toEqual(NO_TOTALS);
  });
});

describe('a frozen context', () => {
  const context = parseArtifactHash('a'.repeat(64));
  const NONE = { hasNewEvidence: false, hasSettled: false, hasClosedGap: false, hasNarrowed: false };
  const contexts: readonly FrozenContext[] = [
    { context, definition: 'pinned', totals: { ...NO_TOTALS, inputTokens: 5 } },
    { context, definition: 'missing', progress: NONE },
    { context, definition: 'pinned', progress: { ...NONE, hasSettled: true, hasNarrowed: true } },
    { context, definition: 'pinned', progress: { ...NONE, hasNewEvidence: true, hasClosedGap: true } },
  ];

  test.each(contexts)('arrives as it was: %j', (frozen) => {
    expect(unpackContext(sent(packContext(frozen)))).toEqual(frozen);
  });

  test('says nothing of what is as usual', () => {
    expect(packContext({ context, definition: 'pinned', progress: NONE })).toEqual({ context, progress: [] });
  });
});

describe('a judgement', () => {
  const context = parseArtifactHash('a'.repeat(64));
  const verdict = { kind: 'callsJudged', calls: [] } as const;
  const frozen: FrozenContext = { context, definition: 'pinned', totals: NO_TOTALS };
  test.each<Judged>([
    { kind: 'candidateRejected', code: 'structure', finding: context },
    verdict,
    { ...verdict, ahead: { reads: [] } },
    { ...verdict, ahead: { reads: [], frozen } },
  ])('arrives as it was: %j', (judged) => {
    expect(unpackJudged(sent(packJudged(judged)))).toEqual(judged);
  });
});
