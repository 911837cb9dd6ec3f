/** What of a candidate is sent, in which order, and what is known of a call when something ends it. */
import { describe, expect, test } from '@jest/globals';
import { MachineAssertion } from '../../../../workflows/machine/assert';
import { CALL_EVENTS, CALL_TRANSITIONS } from '../../../../workflows/machine/call-transitions';
import { findCall, moveCall } from '../../../../workflows/machine/calls';
import type { JudgedCall, OperationOutcome } from '../../../../workflows/machine/events';
import type { Call, Run } from '../../../../workflows/machine/run';
import { PHASES, type Phase } from '../../../../workflows/machine/states';
import * as step from '../../../support/machine/steps';
import { Path, type Step } from '../../../support/machine/steps';
import { fingerprint, hash } from '../../../support/machine/world';

const validating = Path.start().meet(step.frozen(), step.stored());
const judged = (...calls: readonly JudgedCall[]): Path => validating.meet(step.judged(...calls));
const onTicket = { object: fingerprint('ticket') };

const sent = ({ effects }: Path): readonly string[] =>
  effects.flatMap((effect) =>
    effect.kind === 'read' || effect.kind === 'dispatch' ? [`${effect.kind} ${String(effect.ordinal)}`] : [],
  );
const phases = ({ run }: Path): readonly Phase[] => run.calls.map(({ phase }) => phase);
const callOf = ({ run }: Path, ordinal: number): Call => {
  const call = findCall(run, ordinal);
  if (call === undefined) throw new Error(`the candidate has no call ${String(ordinal)}`);
  return call;
};

describe('of one candidate', () => {
  test('reads go side by side', () => {
    expect(sent(judged(step.read(1), step.read(2), step.read(3)))).toEqual(['read 1', 'read 2', 'read 3']);
  });

  test('a short read is told apart, for it runs in the workflow task', () => {
    const path = judged(step.read(1), step.read(2, { isShort: false }));
    expect(path.effects).toMatchObject([
      { ordinal: 1, isShort: true },
      { ordinal: 2, isShort: false },
    ]);
  });

  test('writes go one after the other, in order', () => {
    const first = judged(step.write(1), step.write(2), step.write(3));
    const second = first.meet(step.dispatched(1, step.SUCCEEDED));
    const third = second.meet(step.dispatched(2, step.SUCCEEDED));
    expect([first, second, third].map(sent)).toEqual([['dispatch 1'], ['dispatch 2'], ['dispatch 3']]);
  });

  test('reads do not wait for writes, nor writes for reads', () => {
    expect(sent(judged(step.read(1), step.write(2), step.read(3)))).toEqual(['read 1', 'dispatch 2', 'read 3']);
  });

  test('a write on another object goes on while one is unknown', () => {
    const path = judged(step.write(1, onTicket), step.write(2)).meet(step.dispatched(1, step.UNKNOWN));
    expect(sent(path)).toEqual(['dispatch 2']);
  });

  test('the model is asked again only when every call has its end', () => {
    const path = judged(step.read(1), step.write(2), step.gated(3)).meet(
      step.readEnded(1),
      step.dispatched(2, step.UNKNOWN),
      step.answered('approvalDenied', 3),
    );
    expect(path.run.state).toBe('WAITING_TOOL');
    const next = path.meet(step.moved(2, step.SUCCEEDED));
    expect(next.run.state).toBe('READY');
    expect(next.effect('freezeContext').input.ended).toEqual([
      { ordinal: 1 },
      { ordinal: 2 },
      { ordinal: 3, code: 'DENIED' },
    ]);
  });

  test('all approvals are asked for at once, and each is answered by itself', () => {
    const path = judged(step.gated(1), step.gated(2), step.gated(3));
    expect(path.run.waits).toHaveLength(3);
    const approved = path.meet(step.answered('approvalGiven', 2));
    expect(sent(approved)).toEqual(['dispatch 2']);
    expect(phases(approved.meet(step.dispatched(2, step.SUCCEEDED)))).toEqual(['ASKING', 'ENDED', 'ASKING']);
  });

  test('an approval is of its call alone', () => {
    const path = judged(step.gated(1), step.gated(2)).meet(step.answered('approvalGiven', 1));
    expect(path.effect('dispatch')).toMatchObject({ ordinal: 1, isApproved: true });
    expect(callOf(path, 2).isApproved).toBeUndefined();
  });
});

describe('two writes on one object', () => {
  const both = judged(step.write(1, onTicket), step.write(2, onTicket));

  test.each([
    ['unknown', step.UNKNOWN],
    ['accepted', step.ACCEPTED],
    ['not executed and in back-off', step.NOT_EXECUTED],
    ['unresolved', step.UNRESOLVED],
    ['to be approved again', step.APPROVAL_REQUIRED],
  ])('never overlap: the second stays unsent while the first is %s', (_name, outcome) => {
    const path = both.meet(step.dispatched(1, outcome));
    expect(sent(path)).toEqual([]);
    expect(callOf(path, 2)).toMatchObject({ phase: 'PENDING', sends: 0, next: { action: 'held' } });
  });

  test('follow each other as soon as the first is settled, whatever its end', () => {
    const failed: OperationOutcome = { kind: 'settled', state: 'FAILED', code: 'STATE_CONFLICT' };
    const unknown = both.meet(step.dispatched(1, step.UNKNOWN));
    expect(sent(unknown.meet(step.moved(1, step.SUCCEEDED)))).toEqual(['dispatch 2']);
    expect(sent(unknown.meet(step.moved(1, failed)))).toEqual(['dispatch 2']);
  });

  test('keep their order: the second does not overtake an approval that the first waits for', () => {
    const path = judged(step.gated(1, onTicket), step.write(2, onTicket));
    expect(sent(path)).toEqual([]);
    expect(path.run.state).toBe('WAITING_USER');
    expect(sent(path.meet(step.answered('approvalDenied', 1)))).toEqual(['dispatch 2']);
    const approved = path.meet(step.answered('approvalGiven', 1));
    expect(sent(approved)).toEqual(['dispatch 1']);
    expect(sent(approved.meet(step.dispatched(1, step.SUCCEEDED)))).toEqual(['dispatch 2']);
  });

  test('do not hold the first back because the second has to be approved', () => {
    expect(sent(judged(step.write(1, onTicket), step.gated(2, onTicket)))).toEqual(['dispatch 1']);
  });

  test('do not hold back a write that waits for a person about another object', () => {
    expect(sent(judged(step.gated(1), step.write(2, onTicket)))).toEqual(['dispatch 2']);
  });

  test.each([
    ['a cancel', step.cancelRequested(), 'CANCELLED'],
    ['a message', step.amended(), 'SUPERSEDED'],
  ])('%s ends the one that was held back, unsent', (_name, on, code) => {
    const path = both.meet(step.dispatched(1, step.UNKNOWN), on);
    expect(callOf(path, 2)).toMatchObject({ phase: 'ENDED', sends: 0, code });
    expect(path.meet(step.moved(1, step.SUCCEEDED)).kinds).not.toContain('dispatch');
  });
});

describe('a write', () => {
  const writing = judged(step.write(1));

  test('is sent again only once its back-off is over, and counts its sends', () => {
    const again = writing.meet(step.dispatched(1, step.NOT_EXECUTED), step.resendDue(1));
    expect(sent(again)).toEqual(['dispatch 1']);
    expect(callOf(again, 1).sends).toBe(2);
  });

  test('is not sent beside itself: what a look-up finds while it is in flight changes nothing', () => {
    for (const outcome of [step.NOT_EXECUTED, step.UNKNOWN, step.UNRESOLVED]) {
      const path = writing.meet(step.moved(1, outcome));
      expect(path.run.calls).toEqual(writing.run.calls);
      expect(path.effects).toEqual([]);
    }
  });

  test('is not sent again by a back-off that something newer has overtaken', () => {
    const path = writing.meet(
      step.dispatched(1, step.UNKNOWN_TO_RESEND),
      step.moved(1, step.UNKNOWN),
      step.resendDue(1),
    );
    expect(path.transition?.rule).toBe('ignored');
    expect(callOf(path, 1).next).toEqual({ action: 'lookUp', afterMs: 100 });
  });

  test('is settled by an answer that comes while a person is asked, and the wait is closed', () => {
    const path = writing.meet(step.dispatched(1, step.UNRESOLVED));
    const wait = path.run.waits[0]?.id;
    const settled = path.meet(step.moved(1, step.SUCCEEDED));
    expect(settled.effect('closeWaits').waits).toEqual([wait]);
    expect(settled.run.waits).toEqual([]);
  });

  test('pauses at least as long as was asked, and ever longer the more often it was handed over', () => {
    const turn = [step.dispatched(1, step.NOT_EXECUTED), step.resendDue(1)];
    const pauses = Array.from({ length: 14 }, (_, index) =>
      writing.meet(...Array.from({ length: index }, () => turn).flat(), step.dispatched(1, step.NOT_EXECUTED)),
    ).map((path) => path.effect('pursue').next.afterMs);
    expect(pauses.slice(0, 5)).toEqual([100, 1_000, 2_000, 4_000, 8_000]);
    expect(pauses.at(-1)).toBe(300_000);
    const asked: OperationOutcome = {
      kind: 'pending',
      state: 'NOT_EXECUTED',
      next: { action: 'resend', afterMs: 90_000 },
    };
    expect(writing.meet(...turn, step.dispatched(1, asked)).effect('pursue').next.afterMs).toBe(90_000);
  });

  test('is approved again where its terms differ from those approved', () => {
    const asked = judged(step.gated(1)).meet(
      step.answered('approvalGiven'),
      step.dispatched(1, step.APPROVAL_REQUIRED),
    );
    expect(callOf(asked, 1)).toMatchObject({ phase: 'ASKING', isApproved: false });
    expect(asked.effect('openWait')).toMatchObject({ waitKind: 'approval', ordinal: 1, plan: hash('plan') });
    expect(asked.meet(step.answered('approvalGiven')).effect('dispatch').isApproved).toBe(true);
  });

  test('that a person says was not executed keeps the approval that it has', () => {
    const path = judged(step.gated(1)).meet(
      step.answered('approvalGiven'),
      step.dispatched(1, step.UNRESOLVED),
      step.reconciled('NOT_EXECUTED'),
    );
    expect(path.effect('dispatch')).toMatchObject({ ordinal: 1, isApproved: true });
  });
});

describe('a call that is ended', () => {
  const writing = judged(step.write(1));
  /** Due again, but another write is in flight. */
  const due = (outcome: OperationOutcome): Path =>
    judged(step.write(1), step.write(2)).meet(step.dispatched(1, outcome), step.resendDue(1));
  const unresolved = writing.meet(step.dispatched(1, step.UNRESOLVED));
  const newTerms = writing.meet(step.dispatched(1, step.APPROVAL_REQUIRED));
  const newTermsWhileUnknown = writing.meet(
    step.dispatched(1, step.UNKNOWN_TO_RESEND),
    step.resendDue(1),
    step.dispatched(1, step.APPROVAL_REQUIRED),
  );
  const cancel = step.cancelRequested();
  const stopped: readonly Step[] = [cancel, step.operationsStopped(1)];

  test.each<[string, Path, readonly Step[], string]>([
    ['unsent, by a cancel', judged(step.gated(1)), [cancel], 'CANCELLED'],
    ['unsent, by the deadline', judged(step.gated(1)), [step.deadlinePassed()], 'CANCELLED'],
    ['unsent, by a message', judged(step.gated(1)), [step.amended()], 'SUPERSEDED'],
    ['unsent, by a denial', judged(step.gated(1)), [step.answered('approvalDenied')], 'DENIED'],
    ['unsent, by expiry', judged(step.gated(1)), [step.answered('waitExpired')], 'EXPIRED'],
    ['unresolved, by a cancel', unresolved, [cancel], 'OUTCOME_UNKNOWN'],
    ['unresolved, by a message', unresolved, [step.withdrawn()], 'OUTCOME_UNKNOWN'],
    ['unresolved, by expiry', unresolved, [step.answered('waitExpired')], 'OUTCOME_UNKNOWN'],
    ['unknown and due again, by a cancel', due(step.UNKNOWN_TO_RESEND), [cancel], 'OUTCOME_UNKNOWN'],
    ['unknown and due again, by a message', due(step.UNKNOWN_TO_RESEND), [step.amended()], 'OUTCOME_UNKNOWN'],
    ['proved unexecuted and due again, by a cancel', due(step.NOT_EXECUTED), [cancel], 'CANCELLED'],
    [
      'proved unexecuted in its back-off, by a cancel',
      writing.meet(step.dispatched(1, step.NOT_EXECUTED)),
      stopped,
      'CANCELLED',
    ],
    [
      'proved unexecuted in its back-off, by a message',
      writing.meet(step.dispatched(1, step.NOT_EXECUTED)),
      [step.amended(1)],
      'SUPERSEDED',
    ],
    ['never sent for its new terms, by a cancel', newTerms, [cancel], 'CANCELLED'],
    ['never sent for its new terms, by a denial', newTerms, [step.answered('approvalDenied')], 'DENIED'],
    ['unknown with new terms, by a denial', newTermsWhileUnknown, [step.answered('approvalDenied')], 'OUTCOME_UNKNOWN'],
    ['unknown with new terms, by expiry', newTermsWhileUnknown, [step.answered('waitExpired')], 'OUTCOME_UNKNOWN'],
    [
      'in flight, then proved unexecuted after a cancel',
      writing,
      [cancel, step.dispatched(1, step.NOT_EXECUTED)],
      'CANCELLED',
    ],
    [
      'in flight, then for nobody to resolve after a cancel',
      writing,
      [cancel, step.dispatched(1, step.UNRESOLVED)],
      'OUTCOME_UNKNOWN',
    ],
    [
      'in flight, then to be approved after a cancel',
      writing,
      [cancel, step.dispatched(1, step.APPROVAL_REQUIRED)],
      'CANCELLED',
    ],
  ])('says what is known of it: %s', (_name, given, on, code) => {
    const path = given.meet(...on);
    expect(callOf(path, 1)).toMatchObject({ phase: 'ENDED', code });
    expect(path.kinds).not.toContain('dispatch');
  });

  test('is not touched by what a message cancelled in another step', () => {
    const job = writing.meet(step.dispatched(1, step.ACCEPTED));
    const path = job.meet((run) => ({ ...step.amended(1)(run), atStep: run.step - 1 }));
    expect(callOf(path, 1).phase).toBe('PENDING');
    expect(path.run.planVersion).toBe(2);
  });

  test('is not asked about by a verdict that comes after the calls were judged', () => {
    for (const path of [writing, judged(step.gated(1)), writing.meet(step.dispatched(1, step.ACCEPTED))]) {
      expect(path.meet(step.ambiguous()).transition?.rule).toBe('ignored');
    }
  });

  test('keeps its true end when the run ends later', () => {
    const path = judged(step.write(1), step.write(2)).meet(step.dispatched(1, step.SUCCEEDED), cancel);
    expect(callOf(path, 1)).toMatchObject({ phase: 'ENDED', result: fingerprint('written') });
    expect(callOf(path, 1).code).toBeUndefined();
  });
});

describe('the call table', () => {
  const inPhase = (phase: Phase): Run => ({
    ...validating.run,
    calls: [
      {
        ordinal: 1,
        tool: 'tool',
        effect: 'write',
        phase,
        fingerprint: fingerprint('call'),
        sends: 1,
        next: { action: 'held', afterMs: 0 },
      },
    ],
  });
  const cells = PHASES.flatMap((phase) =>
    CALL_EVENTS.map((event) => ({ phase, event, cell: CALL_TRANSITIONS[phase][event] })),
  );

  test.each(cells.filter(({ cell }) => cell !== 'ignore' && cell !== 'reject'))(
    'moves a call that is $phase and $event to $cell',
    ({ phase, event, cell }) => {
      expect(moveCall(inPhase(phase), 1, event, { code: 'CODE' }).calls[0]).toMatchObject({
        phase: cell,
        code: 'CODE',
      });
    },
  );

  test.each(cells.filter(({ cell }) => cell === 'ignore'))(
    'leaves a call that is $phase and $event as it is',
    ({ phase, event }) => {
      const run = inPhase(phase);
      expect(moveCall(run, 1, event, { code: 'CODE' })).toBe(run);
    },
  );

  test.each(cells.filter(({ cell }) => cell === 'reject'))(
    'rejects that a call that is $phase is $event',
    ({ phase, event }) => {
      expect(() => moveCall(inPhase(phase), 1, event)).toThrow(MachineAssertion);
    },
  );

  test('absorbs what has ended, and forgets what a call waited for once it moves', () => {
    expect(new Set(CALL_EVENTS.map((event) => CALL_TRANSITIONS.ENDED[event]))).toEqual(new Set(['ignore', 'reject']));
    expect(moveCall(inPhase('PENDING'), 1, 'cleared').calls[0]?.next).toBeUndefined();
  });

  test('knows no call that the candidate does not have', () => {
    expect(() => moveCall(inPhase('DUE'), 2, 'sent')).toThrow(MachineAssertion);
  });
});
