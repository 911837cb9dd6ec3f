import { describe, expect, jest, test } from '@jest/globals';
import { pino } from 'pino';
import { createJudgeAndGoAhead, type AheadParts } from '../../../activities/go-ahead';
import type { FrozenContext, JudgeInput, ReadOutcome, Verdict } from '../../../workflows/contract/activities';
import { fingerprintOf, parseArtifactHash, parseRunId, parseTenantId } from '../../../workflows/contract/ids';
import type { JudgedCall } from '../../../workflows/machine/events';

const CONTEXT = parseArtifactHash('a'.repeat(64));
const CANDIDATE = parseArtifactHash('b'.repeat(64));
const NEXT = parseArtifactHash('c'.repeat(64));
const FROZEN: FrozenContext = { context: NEXT, definition: 'pinned' };
const FINGERPRINT = fingerprintOf('d'.repeat(64));

const INPUT: JudgeInput = {
  ref: { tenant: parseTenantId('acme'), run: parseRunId('run_4f3c2a') },
  step: 4,
  attempt: 1,
  context: CONTEXT,
  candidate: CANDIDATE,
  planVersion: 1,
  room: 10,
};

const call = (ordinal: number, changes: Partial<JudgedCall> = {}): JudgedCall => ({
  ordinal,
  tool: 'look',
  effect: 'read',
  fingerprint: FINGERPRINT,
  isShort: true,
  phase: 'DUE',
  ...changes,
});

const partsOf = (verdict: Verdict) => ({
  judgeCandidate: jest.fn<AheadParts['judgeCandidate']>().mockResolvedValue(verdict),
  readShort: jest.fn<AheadParts['readShort']>().mockResolvedValue({ result: FINGERPRINT }),
  freezeAhead: jest.fn<AheadParts['freezeAhead']>().mockResolvedValue(FROZEN),
  log: pino({ level: 'silent' }),
});

const judged = (...calls: readonly JudgedCall[]): Verdict => ({ kind: 'callsJudged', calls });

describe('short reads that are due', () => {
  test('are made, and the context that follows is frozen', async () => {
    const parts = partsOf(judged(call(1), call(2)));
    parts.readShort
      .mockResolvedValueOnce({ result: FINGERPRINT })
      .mockResolvedValueOnce({ result: FINGERPRINT, code: 'NOT_FOUND' });
    const { ahead } = await createJudgeAndGoAhead(parts)(INPUT);
    expect(ahead).toEqual({
      reads: [
        { ordinal: 1, result: FINGERPRINT },
        { ordinal: 2, result: FINGERPRINT, code: 'NOT_FOUND' },
      ],
      frozen: FROZEN,
    });
    expect(parts.freezeAhead).toHaveBeenCalledWith({
      ref: INPUT.ref,
      planVersion: 1,
      freeze: {
        step: 5,
        parent: CONTEXT,
        input: {
          waits: [],
          candidate: CANDIDATE,
          ended: [{ ordinal: 1 }, { ordinal: 2, code: 'NOT_FOUND' }],
          shrinks: 0,
        },
      },
    });
  });

  test.each<[string, JudgedCall]>([
    ['a write', call(2, { effect: 'write' })],
    ['a long read', call(2, { isShort: false })],
    ['a call that a person is asked about', call(2, { phase: 'ASKING', effect: 'write' })],
  ])('are made beside %s, and no context is frozen', async (_what, other) => {
    const parts = partsOf(judged(call(1), other));
    const { ahead } = await createJudgeAndGoAhead(parts)(INPUT);
    expect(ahead).toEqual({ reads: [{ ordinal: 1, result: FINGERPRINT }] });
    expect(parts.readShort).toHaveBeenCalledTimes(1);
    expect(parts.freezeAhead).not.toHaveBeenCalled();
  });

  test('of which one is ambiguous are followed by a question, not by a context', async () => {
    const ambiguous: ReadOutcome = { result: FINGERPRINT, code: 'OBJECT_AMBIGUOUS', question: NEXT };
    const parts = partsOf(judged(call(1)));
    parts.readShort.mockResolvedValue(ambiguous);
    const { ahead } = await createJudgeAndGoAhead(parts)(INPUT);
    expect(ahead).toEqual({ reads: [{ ordinal: 1, ...ambiguous }] });
    expect(parts.freezeAhead).not.toHaveBeenCalled();
  });
});

test('calls that were all refused are followed by the next context at once', async () => {
  const parts = partsOf(judged(call(1, { phase: 'ENDED', code: 'PERMISSION_DENIED' })));
  const { ahead } = await createJudgeAndGoAhead(parts)({ ...INPUT, room: 0 });
  expect(ahead).toEqual({ reads: [], frozen: FROZEN });
  expect(parts.readShort).not.toHaveBeenCalled();
});

describe('nothing is done ahead', () => {
  test.each<[string, Verdict, JudgeInput]>([
    ['of another verdict', { kind: 'analyseAccepted' }, INPUT],
    ['without being told that there is room', judged(call(1)), { ...INPUT, room: 0 }],
    ['of more calls than there is room for', judged(call(1), call(2)), { ...INPUT, room: 1 }],
  ])('%s', async (_what, verdict, input) => {
    const parts = partsOf(verdict);
    expect(await createJudgeAndGoAhead(parts)(input)).toEqual(verdict);
    expect(parts.readShort).not.toHaveBeenCalled();
    expect(parts.freezeAhead).not.toHaveBeenCalled();
  });
});

describe('a part that fails is left to the machine', () => {
  const fails = () => Promise.reject(new Error('not now'));

  test('a read, and with it the context', async () => {
    const verdict = judged(call(1));
    const parts = partsOf(verdict);
    parts.readShort.mockImplementation(fails);
    expect(await createJudgeAndGoAhead(parts)(INPUT)).toEqual(verdict);
    expect(parts.freezeAhead).not.toHaveBeenCalled();
  });

  test('the context alone', async () => {
    const parts = partsOf(judged(call(1)));
    parts.freezeAhead.mockImplementation(fails);
    expect(await createJudgeAndGoAhead(parts)(INPUT)).toMatchObject({ ahead: { reads: [{ ordinal: 1 }] } });
  });

  test('the context of an agent that reads its memory in READY', async () => {
    const parts = partsOf(judged(call(1)));
    parts.freezeAhead.mockResolvedValue(undefined);
    const { ahead } = await createJudgeAndGoAhead(parts)(INPUT);
    expect(ahead).toEqual({ reads: [{ ordinal: 1, result: FINGERPRINT }] });
  });
});
