import { describe, expect, test } from '@jest/globals';
import type { FrozenContext, JudgeInput, Judged } from '../../../workflows/contract/activities';
import {
  fingerprintOf,
  parseArtifactHash,
  parseRunId,
  parseTenantId,
  parseWaitId,
} from '../../../workflows/contract/ids';
import { DoneAhead } from '../../../workflows/done-ahead';
import type { EffectOf } from '../../../workflows/machine/effects';

const CONTEXT = parseArtifactHash('a'.repeat(64));
const CANDIDATE = parseArtifactHash('b'.repeat(64));
const NEXT = parseArtifactHash('c'.repeat(64));
const RESULT = fingerprintOf('d'.repeat(64));
const FROZEN: FrozenContext = { context: NEXT, definition: 'pinned' };

const INPUT: JudgeInput = {
  ref: { tenant: parseTenantId('acme'), run: parseRunId('run_4f3c2a') },
  step: 4,
  attempt: 1,
  context: CONTEXT,
  candidate: CANDIDATE,
  planVersion: 2,
};
const JUDGED: Judged = {
  kind: 'callsJudged',
  calls: [{ ordinal: 1, tool: 'look', effect: 'read', fingerprint: RESULT, isShort: true, phase: 'DUE' }],
  ahead: { reads: [{ ordinal: 1, result: RESULT }], frozen: FROZEN },
};
const FREEZE: EffectOf<'freezeContext'> = {
  kind: 'freezeContext',
  step: 5,
  parent: CONTEXT,
  input: { candidate: CANDIDATE, ended: [{ ordinal: 1 }], shrinks: 0, waits: [] },
};

const kept = (judged: Judged = JUDGED): DoneAhead => {
  const done = new DoneAhead();
  done.keep(INPUT, judged);
  return done;
};

test('the context that the machine asks for is taken, once', () => {
  const done = kept();
  expect(done.takeContext(FREEZE, 2)).toBe(FROZEN);
  expect(done.takeContext(FREEZE, 2)).toBeUndefined();
});

describe('the machine asks for another context', () => {
  const { input } = FREEZE;
  test.each<[string, EffectOf<'freezeContext'>]>([
    ['of another step', { ...FREEZE, step: 6 }],
    ['on another parent', { ...FREEZE, parent: NEXT }],
    ['with a finding', { ...FREEZE, input: { ...input, finding: NEXT } }],
    ['with a response', { ...FREEZE, input: { ...input, waits: [parseWaitId('wait_4f3c2a_7_0')] } }],
    ['of another candidate', { ...FREEZE, input: { ...input, candidate: NEXT } }],
    ['with another end of the call', { ...FREEZE, input: { ...input, ended: [{ ordinal: 1, code: 'CANCELLED' }] } }],
    ['without the call', { ...FREEZE, input: { ...input, ended: [] } }],
    [
      'with a correction',
      { ...FREEZE, input: { ...input, correction: { rule: 'noProgress', steps: [3, 4], what: 'no new evidence' } } },
    ],
    ['that is smaller', { ...FREEZE, input: { ...input, shrinks: 1 } }],
  ])('%s', (_what, freeze) => {
    expect(kept().takeContext(freeze, 2)).toBeUndefined();
  });

  test('of a newer plan', () => {
    expect(kept().takeContext(FREEZE, 3)).toBeUndefined();
  });

  test('where none was frozen', () => {
    expect(kept({ ...JUDGED, ahead: { reads: [] } }).takeContext(FREEZE, 2)).toBeUndefined();
    expect(kept({ kind: 'analyseAccepted' }).takeContext(FREEZE, 2)).toBeUndefined();
  });
});

test('a read that was made is recognised by its step and ordinal', () => {
  const read = { kind: 'read', step: 4, ordinal: 1, isShort: true } as const;
  expect(kept().hasRead(read)).toBe(true);
  expect(kept().hasRead({ ...read, ordinal: 2 })).toBe(false);
  expect(kept().hasRead({ ...read, step: 5 })).toBe(false);
  expect(new DoneAhead().hasRead(read)).toBe(false);
});
