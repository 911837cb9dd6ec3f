/**
 * The run table. Read a cell as: in this state, on this event, the first branch whose guard holds says where the run goes.
 *
 *   STAY    the state stays, the run's data and effects may change
 *   JOIN    the calls of the open candidate decide (join.ts)
 *   ignore  late, duplicate or too late: journaled, changes nothing
 *   reject  our own bug: the task fails and an alarm goes off; no message and no activity failure reaches it
 *
 * Events that answer something the run no longer waits for are recognised before the table is asked (stale.ts).
 */
import type { EventKind } from './events';
import * as is from './guards';
import type { Guard } from './guards';
import type { Run } from './run';
import type { State } from './states';

export interface Branch<K extends EventKind = EventKind> {
  readonly when?: Guard<K>;
  readonly to: State | 'STAY' | 'JOIN';
  /** Stable name of the reason, recorded with the transition. */
  readonly rule: string;
}
/** A branch whose event kind is known only at run time. */
export type ErasedBranch = Omit<Branch, 'when'> & { readonly when?: (run: Run, event: never) => boolean };
export type Cell<K extends EventKind = EventKind> = readonly Branch<K>[] | 'ignore' | 'reject';
export type Row = { readonly [K in EventKind]: Cell<K> };

// prettier-ignore
const MODEL_EVENTS_LATE = {
  candidateStored: 'ignore', attemptInterrupted: 'ignore', attemptLost: 'ignore', attemptFailed: 'ignore',
  attemptTruncated: 'ignore', attemptPaused: 'ignore', contextTooLong: 'ignore', providerRejected: 'ignore',
  modelRefused: 'ignore', backOffElapsed: 'ignore',
} as const satisfies Partial<Row>;

// prettier-ignore
const VERDICTS_LATE = {
  callsJudged: 'ignore', questionAccepted: 'ignore', analyseAccepted: 'ignore', objectAmbiguous: 'ignore',
  finishAccepted: 'ignore', blockConfirmed: 'ignore', candidateRejected: 'ignore',
} as const satisfies Partial<Row>;

// prettier-ignore
const CALL_EVENTS_LATE = {
  readEnded: 'ignore', dispatchEnded: 'ignore', operationMoved: 'ignore', resendDue: 'ignore',
} as const satisfies Partial<Row>;

// prettier-ignore
const WAIT_EVENTS_LATE = {
  approvalGiven: 'ignore', approvalDenied: 'ignore', reconciliationAnswered: 'ignore', answerGiven: 'ignore',
  acceptanceGiven: 'ignore', acceptanceRejected: 'ignore', takenOver: 'ignore', guidanceGiven: 'ignore', waitExpired: 'ignore',
} as const satisfies Partial<Row>;

/** Only where calls are under way can an end have to wait for them. */
// prettier-ignore
const ENDING_ELSEWHERE = { operationsStopped: 'ignore', graceElapsed: 'ignore' } as const satisfies Partial<Row>;

/** A call moves, the run joins. The same in all three states in which calls are open. */
// prettier-ignore
const CALL_EVENTS_OPEN = {
  readEnded:              [{ to: 'JOIN', rule: 'call.read.ended' }],
  dispatchEnded:          [{ to: 'JOIN', rule: 'call.dispatch.ended' }],
  operationMoved:         [{ to: 'JOIN', rule: 'call.operation.moved' }],
  resendDue:              [{ to: 'JOIN', rule: 'call.resend.due' }],
  objectAmbiguous:        [{ to: 'JOIN', rule: 'call.object.ambiguous' }],
  approvalGiven:          [{ to: 'JOIN', rule: 'wait.approved' }],
  approvalDenied:         [{ to: 'JOIN', rule: 'wait.denied' }],
  reconciliationAnswered: [{ to: 'JOIN', rule: 'wait.reconciled' }],
  answerGiven:            [{ to: 'JOIN', rule: 'wait.answered' }],
  waitExpired:            [{ when: is.isExpiryTheEnd, to: 'JOIN', rule: 'wait.expired.end' },
                           { to: 'JOIN', rule: 'wait.expired.told' }],
} as const satisfies Partial<Row>;

/** DESIGN: "any before FINALIZING". */
// prettier-ignore
const ANY_BEFORE_FINALIZING = {
  amended:           [{ to: 'JOIN', rule: 'plan.amended' }],
  withdrawn:         [{ to: 'JOIN', rule: 'plan.withdrawn' }],
  cancelRequested:   [{ to: 'JOIN', rule: 'ending.cancel' }],
  deadlinePassed:    [{ to: 'JOIN', rule: 'ending.deadline' }],
  budgetSpent:       [{ to: 'JOIN', rule: 'ending.budget' }],
  endChecked: 'ignore',
  committed: 'reject', commitOvertaken: 'reject',
} as const satisfies Partial<Row>;

// prettier-ignore
const READY: Row = {
  contextFrozen: [{ when: is.isDeadlinePassed,    to: 'FINALIZING',    rule: 'deadline.passed' },
                  { when: is.isBudgetSpent,       to: 'FINALIZING',    rule: 'budget.spent' },
                  { when: is.isDefinitionMissing, to: 'WAITING_USER',  rule: 'definition.missing' },
                  { when: is.isLoopHandedOff,     to: 'WAITING_USER',  rule: 'loop.handoff' },
                  { when: is.isLoopFailed,        to: 'FINALIZING',    rule: 'loop.failed' },
                  { when: is.isLoopNew,           to: 'STAY',          rule: 'loop.correction' },
                  {                               to: 'MODEL_RUNNING', rule: 'context.frozen' }],
  ...MODEL_EVENTS_LATE, ...VERDICTS_LATE, ...CALL_EVENTS_LATE, ...WAIT_EVENTS_LATE, ...ENDING_ELSEWHERE,
  ...ANY_BEFORE_FINALIZING,
};

// prettier-ignore
const MODEL_RUNNING: Row = {
  candidateStored:    [{                                    to: 'VALIDATING',   rule: 'candidate.stored' }],
  attemptInterrupted: [{                                    to: 'STAY',         rule: 'attempt.collect' }],
  attemptLost:        [{ when: is.isAttemptUnaffordable,    to: 'FINALIZING',   rule: 'budget.spent' },
                       { when: is.areLostAttemptsSpent,     to: 'FINALIZING',   rule: 'attempts.lost' },
                       {                                    to: 'STAY',         rule: 'attempt.next' }],
  attemptFailed:      [{ when: is.isAttemptUnaffordable,    to: 'FINALIZING',   rule: 'budget.spent' },
                       { when: is.areProviderFailuresSpent, to: 'FINALIZING',   rule: 'attempts.spent' },
                       { when: is.isRetryTooLate,           to: 'FINALIZING',   rule: 'retry.too_late' },
                       {                                    to: 'STAY',         rule: 'attempt.back_off' }],
  backOffElapsed:     [{                                    to: 'STAY',         rule: 'attempt.next' }],
  attemptTruncated:   [{ when: is.isAttemptUnaffordable,    to: 'FINALIZING',   rule: 'budget.spent' },
                       { when: is.areTruncationsSpent,      to: 'FINALIZING',   rule: 'truncations.spent' },
                       {                                    to: 'STAY',         rule: 'attempt.more_room' }],
  attemptPaused:      [{ when: is.arePausesSpent,           to: 'FINALIZING',   rule: 'pauses.spent' },
                       {                                    to: 'READY',        rule: 'turn.paused' }],
  contextTooLong:     [{ when: is.isShrunkAlready,          to: 'FINALIZING',   rule: 'context.exhausted' },
                       {                                    to: 'READY',        rule: 'context.shrunk' }],
  providerRejected:   [{                                    to: 'FINALIZING',   rule: 'provider.rejected' }],
  modelRefused:       [{ when: is.isRefusalHandedOff,       to: 'WAITING_USER', rule: 'refusal.handoff' },
                       {                                    to: 'FINALIZING',   rule: 'refusal.failed' }],
  contextFrozen: 'ignore',
  ...VERDICTS_LATE, ...CALL_EVENTS_LATE, ...WAIT_EVENTS_LATE, ...ENDING_ELSEWHERE, ...ANY_BEFORE_FINALIZING,
};

// prettier-ignore
const VALIDATING: Row = {
  callsJudged:       [{ when: is.areToolCallsSpent, to: 'FINALIZING',   rule: 'budget.spent' },
                      {                             to: 'JOIN',         rule: 'calls.judged' }],
  questionAccepted:  [{                             to: 'WAITING_USER', rule: 'question.accepted' }],
  objectAmbiguous:   [{                             to: 'WAITING_USER', rule: 'object.ambiguous' }],
  analyseAccepted:   [{ when: is.areAnalysesSpent,  to: 'FINALIZING',   rule: 'analyses.spent' },
                      {                             to: 'READY',        rule: 'analyse.accepted' }],
  finishAccepted:    [{                             to: 'FINALIZING',   rule: 'finish.done' }],
  blockConfirmed:    [{                             to: 'FINALIZING',   rule: 'finish.cannot' }],
  candidateRejected: [{ when: is.areRepairsSpent,   to: 'FINALIZING',   rule: 'repairs.spent' },
                      {                             to: 'READY',        rule: 'candidate.rejected' }],
  contextFrozen: 'ignore',
  ...MODEL_EVENTS_LATE, ...CALL_EVENTS_LATE, ...WAIT_EVENTS_LATE, ...ENDING_ELSEWHERE, ...ANY_BEFORE_FINALIZING,
};

// prettier-ignore
const TOOL_RUNNING: Row = {
  operationsStopped: [{                    to: 'JOIN',       rule: 'operations.stopped' }],
  graceElapsed:      [{ when: is.isEnding, to: 'FINALIZING', rule: 'ending.grace.over' },
                      {                    to: 'STAY',       rule: 'grace.late' }],
  contextFrozen: 'ignore',
  acceptanceGiven: 'ignore', acceptanceRejected: 'ignore', takenOver: 'ignore', guidanceGiven: 'ignore',
  ...MODEL_EVENTS_LATE, ...VERDICTS_LATE, ...CALL_EVENTS_OPEN, ...ANY_BEFORE_FINALIZING,
};

/** FINALIZING comes here while an operation is open, and the run looks again. */
// prettier-ignore
const WAITING_TOOL: Row = {
  ...TOOL_RUNNING,
  endChecked: [{ when: is.isOperationOpen, to: 'STAY', rule: 'end.operation_open' },
               {                           to: 'JOIN', rule: 'end.look_again' }],
};

// prettier-ignore
const WAITING_USER: Row = {
  contextFrozen: 'ignore',
  ...MODEL_EVENTS_LATE, ...VERDICTS_LATE, ...CALL_EVENTS_OPEN, ...ENDING_ELSEWHERE, ...ANY_BEFORE_FINALIZING,
  acceptanceGiven:    [{ to: 'FINALIZING', rule: 'acceptance.given' }],
  acceptanceRejected: [{ to: 'READY',      rule: 'acceptance.rejected' }],
  takenOver:          [{ to: 'FINALIZING', rule: 'handoff.taken' }],
  guidanceGiven:      [{ to: 'READY',      rule: 'handoff.guided' }],
};

// prettier-ignore
const FINALIZING: Row = {
  endChecked:        [{ when: is.isCommitting,            to: 'STAY',         rule: 'end.too_late' },
                      { when: is.isOperationOpen,         to: 'WAITING_TOOL', rule: 'end.operation_open' },
                      { when: is.isReconciliationRequired, to: 'WAITING_USER', rule: 'end.reconciliation_required' },
                      { when: is.isAcceptanceRequired,    to: 'WAITING_USER', rule: 'end.acceptance_required' },
                      { when: is.isConditionUnmetForGood, to: 'STAY',         rule: 'repairs.spent' },
                      { when: is.isConditionUnmet,        to: 'READY',        rule: 'end.condition_unmet' },
                      {                                   to: 'STAY',         rule: 'end.commit' }],
  committed:         [{ when: is.committedAs('SUCCEEDED'),        to: 'SUCCEEDED',        rule: 'end.committed' },
                      { when: is.committedAs('FAILED'),           to: 'FAILED',           rule: 'end.committed' },
                      { when: is.committedAs('BUDGET_EXHAUSTED'), to: 'BUDGET_EXHAUSTED', rule: 'end.committed' },
                      { when: is.committedAs('EXPIRED'),          to: 'EXPIRED',          rule: 'end.committed' },
                      { when: is.committedAs('CANCELLED'),        to: 'CANCELLED',        rule: 'end.committed' },
                      { when: is.committedAs('CANCEL_UNKNOWN'),   to: 'CANCEL_UNKNOWN',   rule: 'end.committed' },
                      {                                           to: 'HANDED_OFF',       rule: 'end.committed' }],
  cancelRequested:   [{ when: is.isCommitting, to: 'STAY', rule: 'cancel.too_late' },
                      {                        to: 'STAY', rule: 'ending.cancel' }],
  deadlinePassed:    [{ when: is.isCommitting, to: 'STAY', rule: 'deadline.too_late' },
                      {                        to: 'STAY', rule: 'ending.deadline' }],
  commitOvertaken:   [{                        to: 'READY', rule: 'end.plan_changed' }],
  amended:           [{ when: is.isEndRevocable, to: 'READY', rule: 'plan.amended' },
                      {                          to: 'STAY',  rule: 'plan.too_late' }],
  withdrawn:         [{ when: is.isEndRevocable, to: 'READY', rule: 'plan.withdrawn' },
                      {                          to: 'STAY',  rule: 'plan.too_late' }],
  contextFrozen: 'ignore', budgetSpent: 'ignore', operationsStopped: 'ignore', graceElapsed: 'ignore',
  ...MODEL_EVENTS_LATE, ...VERDICTS_LATE, ...CALL_EVENTS_LATE, ...WAIT_EVENTS_LATE,
};

/** A terminal absorbs everything. */
// prettier-ignore
const TERMINAL: Row = {
  contextFrozen: 'ignore', amended: 'ignore', withdrawn: 'ignore', cancelRequested: 'ignore', deadlinePassed: 'ignore',
  budgetSpent: 'ignore', operationsStopped: 'ignore', graceElapsed: 'ignore', endChecked: 'ignore', committed: 'ignore',
  commitOvertaken: 'ignore',
  ...MODEL_EVENTS_LATE, ...VERDICTS_LATE, ...CALL_EVENTS_LATE, ...WAIT_EVENTS_LATE,
};

// prettier-ignore
export const TRANSITIONS = {
  READY, MODEL_RUNNING, VALIDATING, TOOL_RUNNING, WAITING_TOOL, WAITING_USER, FINALIZING,
  SUCCEEDED: TERMINAL, FAILED: TERMINAL, BUDGET_EXHAUSTED: TERMINAL, EXPIRED: TERMINAL,
  CANCELLED: TERMINAL, CANCEL_UNKNOWN: TERMINAL, HANDED_OFF: TERMINAL,
} as const satisfies Record<State, Row>;
