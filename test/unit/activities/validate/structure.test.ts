import { describe, expect, test } from '@jest/globals';
import type { CandidateArtifact } from '../../../../activities/model/candidate';
import type { LookUps } from '../../../../activities/validate/look-ups';
import {
  call,
  candidateOf,
  describeOutcome,
  judged,
  NOTHING_FOUND,
  outcomeOf,
  proposing,
  saying,
  type Setting,
} from './fixtures';

const THINKING = { type: 'thinking', thinking: 'hm', signature: 's' } as const;
const finish = { outcome: 'done', answer: 'Done.', claims: [] };

describe('structure', () => {
  test.each<[string, Partial<CandidateArtifact>, string]>([
    ['an empty answer', { blocks: [] }, 'candidate.empty'],
    ['blank text', { blocks: [{ type: 'text', text: ' \n ' }] }, 'candidate.empty'],
    ['thinking only', { blocks: [THINKING] }, 'candidate.only_thinking'],
    ['hidden thinking only', { blocks: [{ type: 'redacted_thinking', data: 'x' }] }, 'candidate.only_thinking'],
    [
      'a call that was announced only',
      { stopReason: 'tool_use', blocks: [{ type: 'text', text: 'I call it' }] },
      'candidate.no_call',
    ],
    [
      'an answer cut short',
      { stopReason: 'max_tokens', calls: [call(['read_ticket', { ticket: 'T100' }])] },
      'candidate.incomplete',
    ],
    [
      'an answer known to be incomplete',
      { isComplete: false, calls: [call(['read_ticket', { ticket: 'T100' }])] },
      'candidate.incomplete',
    ],
    ['a paused turn', { stopReason: 'pause_turn', blocks: [{ type: 'text', text: 'wait' }] }, 'candidate.incomplete'],
    [
      'no stop reason',
      { stopReason: undefined, blocks: [{ type: 'text', text: 'x' }] } as unknown as Partial<CandidateArtifact>,
      'candidate.incomplete',
    ],
    [
      'one id twice',
      {
        calls: [
          call(['read_ticket', { ticket: 'T100' }], 1),
          { ...call(['read_ticket', { ticket: 'T100' }], 2), id: 'toolu_1' },
        ],
      },
      'candidate.duplicate_call_id',
    ],
    [
      'finish beside a call',
      { calls: [call(['finish', finish], 1), call(['read_ticket', { ticket: 'T100' }], 2)] },
      'candidate.control_not_alone',
    ],
    [
      'ask_user beside a call',
      { calls: [call(['read_ticket', { ticket: 'T100' }], 1), call(['ask_user', {}], 2)] },
      'candidate.control_not_alone',
    ],
    [
      '33 calls',
      { calls: Array.from({ length: 33 }, (_, index) => call(['read_ticket', { ticket: 'T100' }], index + 1)) },
      'candidate.too_many_calls',
    ],
  ])('%s goes back by name', (_title, changes, code) => {
    expect(outcomeOf({}, candidateOf(changes))).toMatchObject({ kind: 'rejected', finding: { code } });
  });

  test('plain text is an answer without claims', () => {
    const conditions = [{ name: 'met', check: () => ({ kind: 'met' }) as const }];

    expect(outcomeOf({ agent: { conditions } }, saying('All done.'))).toEqual({
      kind: 'finish',
      answer: { schemaVersion: 1, outcome: 'done', answer: 'All done.', claims: [] },
    });
  });

  test('text beside a call is no answer', () => {
    const candidate = {
      ...proposing(['read_ticket', { ticket: 'T100' }]),
      blocks: [{ type: 'text', text: 'Reading.' }],
    } as const;

    expect(describeOutcome(outcomeOf({}, candidate))).toBe('calls due');
  });
});

describe('the gate', () => {
  const withRun = (run: Partial<LookUps['run']>): LookUps => ({
    ...NOTHING_FOUND,
    run: { ...NOTHING_FOUND.run, ...run },
  });

  test.each<[string, Setting, LookUps, string]>([
    ['a run that has ended', {}, withRun({ terminal: 'EXPIRED', isCancelRequested: true }), 'gate.ended'],
    ['a run that is to be cancelled', {}, withRun({ isCancelRequested: true }), 'gate.cancel_requested'],
    ['a run past its deadline', {}, withRun({ isPastDeadline: true }), 'gate.deadline'],
    ['a run whose task was changed', {}, withRun({ planVersion: 2 }), 'gate.plan_changed'],
    ['a worker without the agent', { hasAgent: false }, NOTHING_FOUND, 'definition.missing'],
  ])('keeps %s from anything new', (_title, setting, lookUps, code) => {
    const { outcome, decisions } = judged(setting, proposing(['read_ticket', { ticket: 'T100' }]), lookUps);

    expect(outcome).toMatchObject({ kind: 'rejected', finding: { code } });
    expect(decisions).toEqual([expect.objectContaining({ validator: 'gate', verdict: 'fail', code })]);
  });
});
