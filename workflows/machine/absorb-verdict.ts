/** What VALIDATING's events change. */
import { assertMachine } from './assert';
import { moveCall } from './calls';
import { change, endAs, withCounters, withWait, type Change } from './change';
import type { EventOf, JudgedCall } from './events';
import type { Call, Run } from './run';

export const absorbCallsJudged = (run: Run, event: EventOf<'callsJudged'>, rule: string): Change => {
  assertMachine(run.calls.length === 0, 'a candidate is judged once');
  const judging = { ...run, calls: event.calls.map(toJudging) };
  if (rule === 'budget.spent') {
    const ended = event.calls.reduce<Run>(
      (next, { ordinal }) => moveCall(next, ordinal, 'ended', { code: 'CANCELLED' }),
      judging,
    );
    return endAs(ended, { as: 'BUDGET_EXHAUSTED', reason: 'budget.toolCalls' });
  }
  const isAnyGood = event.calls.some((call) => call.phase !== 'ENDED');
  const counted = withCounters(judging, { analyses: 0, ...(isAnyGood ? { repairs: 0 } : {}) });
  return event.calls.reduce<Change>(place, change(counted));
};

const toJudging = ({ plan: _shownInWait, code: _later, result: _later2, ...call }: JudgedCall): Call => ({
  ...call,
  phase: 'JUDGING',
  sends: 0,
});

const place = ({ run, effects }: Change, { ordinal, phase, plan, code, result }: JudgedCall): Change => {
  switch (phase) {
    case 'DUE':
      return { run: moveCall(run, ordinal, 'cleared'), effects };
    case 'ASKING':
      return withWait(
        { run: moveCall(run, ordinal, 'asked'), effects },
        { kind: 'approval', ordinal, ...(plan === undefined ? {} : { plan }) },
      );
    case 'ENDED': {
      const end = { ...(code === undefined ? {} : { code }), ...(result === undefined ? {} : { result }) };
      return { run: moveCall(run, ordinal, 'ended', end), effects };
    }
  }
};

/** A question of the model's, or one that the runtime built from several matches of one target. */
export const absorbQuestion = (run: Run, event: EventOf<'questionAccepted' | 'objectAmbiguous'>): Change => {
  const ordinal = event.kind === 'objectAmbiguous' ? event.ordinal : undefined;
  const asked =
    ordinal === undefined
      ? withCounters(run, { repairs: 0, analyses: 0 })
      : moveCall(run, ordinal, 'ended', { code: 'OBJECT_AMBIGUOUS' });
  return run.ending === undefined ? withWait(change(asked), { kind: 'question', plan: event.question }) : change(asked);
};

export const absorbAnalyse = (run: Run, rule: string): Change =>
  rule === 'analyses.spent'
    ? endAs(run, { as: 'FAILED', reason: 'analyses.spent' })
    : change(withCounters(run, { analyses: run.counters.analyses + 1, repairs: 0 }));

export const absorbFinish = (run: Run, event: EventOf<'finishAccepted' | 'blockConfirmed'>): Change =>
  change({
    ...withCounters(run, { looks: 0 }),
    ending:
      event.kind === 'finishAccepted'
        ? { as: 'SUCCEEDED', reason: 'finish.done', answer: event.answer }
        : { as: 'FAILED', reason: `blocked.${event.code}`, answer: event.answer },
  });

export const absorbRejection = (run: Run, event: EventOf<'candidateRejected'>, rule: string): Change =>
  rule === 'repairs.spent'
    ? endAs(run, { as: 'FAILED', reason: `repairs.${event.code}` })
    : change({
        ...withCounters(run, { repairs: run.counters.repairs + 1 }),
        input: { ...run.input, finding: event.finding },
      });
