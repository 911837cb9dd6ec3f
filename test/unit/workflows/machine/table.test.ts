/**
 * The run table, row by row: from where, on what, to where, by which rule, and what is to be done. The runs come from real
 * `decide` calls. The last tests hold the rows against the table: every branch of it has its row here.
 */
import { expect, test } from '@jest/globals';
import type { EffectKind } from '../../../../workflows/machine/effects';
import type { EventKind } from '../../../../workflows/machine/events';
import { NO_TOTALS } from '../../../../workflows/machine/ledger';
import type { Ending } from '../../../../workflows/machine/run';
import { ACTIVE_STATES, TERMINALS, type State } from '../../../../workflows/machine/states';
import { TRANSITIONS, type Cell } from '../../../../workflows/machine/transitions';
import * as step from '../../../support/machine/steps';
import { Path, type Step } from '../../../support/machine/steps';
import { LIMITS } from '../../../support/machine/world';

const ready = Path.start();
const modelRunning = ready.meet(step.frozen());
const validating = modelRunning.meet(step.stored());
const reading = validating.meet(step.judged(step.read(1)));
const writing = validating.meet(step.judged(step.write(1)));
const job = writing.meet(step.dispatched(1, step.ACCEPTED));
const unresolved = writing.meet(step.dispatched(1, step.UNRESOLVED));
const approving = validating.meet(step.judged(step.gated(1)));
/** Nobody's answer is its end. */
const expiring = Path.start({ onExpiry: { ...LIMITS.onExpiry, approval: 'end' } }).meet(step.frozen(), step.stored());
const questioned = validating.meet(step.questionAccepted());
const handedOff = ready.meet(step.frozen({ definition: 'missing' }));
const finalizing = validating.meet(step.finishAccepted());
const finalizingFailure = modelRunning.meet(step.rejectedByProvider());
const accepting = finalizing.meet(step.endChecked({ obstacle: 'acceptanceRequired' }));
const withOpenOperation = finalizing.meet(step.endChecked({ obstacle: 'operationOpen' }));
const committing = finalizing.meet(step.endChecked());
/** A read and a write that needs approval, of one candidate. */
const readingAndApproving = validating.meet(step.judged(step.read(1), step.gated(2)));
/** A job and a write that needs approval: WAITING_USER, or WAITING_TOOL once it is approved and accepted too. */
const jobAndApproving = validating.meet(step.judged(step.write(1), step.gated(2)), step.dispatched(1, step.ACCEPTED));
const readingAndQuestioned = validating.meet(step.judged(step.read(1), step.read(2)), step.ambiguous(1));
const askingBesideAJob = [
  step.judged(step.read(1), step.write(2)),
  step.ambiguous(1),
  step.dispatched(2, step.ACCEPTED),
];
const jobAndQuestioned = validating.meet(...askingBesideAJob);
const jobAndQuestionedTold = Path.start({ onExpiry: { ...LIMITS.onExpiry, question: 'tell-model' } }).meet(
  step.frozen(),
  step.stored(),
  ...askingBesideAJob,
);
const endingWithJob = job.meet(step.cancelRequested());
const endingWithWrite = writing.meet(step.cancelRequested());

const loopOf = (limits: Parameters<typeof Path.start>[0]): Path => {
  const turn = [step.frozen({ progress: step.NO_PROGRESS }), step.stored(), step.judged(step.ended(1))];
  return Path.start(limits).meet(...turn, ...turn, ...turn);
};
const looping = loopOf({});
const correction = [
  step.frozen({ progress: step.NO_PROGRESS }),
  step.frozen({ progress: step.NO_PROGRESS }),
  step.stored(),
  step.judged(step.ended(1)),
];

const spentTotals = { ...NO_TOTALS, inputTokens: LIMITS.maxTokens };

type RunEnding = Pick<Ending, 'as' | 'reason'>;
type Target = readonly [to: State, rule: string, effects: readonly EffectKind[], ending?: RunEnding];
type Row = readonly [fact: string, given: Path, on: Step, ...Target];

const ENDED: readonly EffectKind[] = ['cancelAttempt', 'stopOperations', 'checkEnd'];
const NEXT: readonly EffectKind[] = ['freezeContext'];

// prettier-ignore
const READY: readonly Row[] = [
  ['a frozen context starts the first attempt',
    ready, step.frozen(), 'MODEL_RUNNING', 'context.frozen', ['callModel']],
  ['no step begins at the deadline',
    ready, step.frozen({ at: LIMITS.deadlineMs }), 'FINALIZING', 'deadline.passed', ENDED, { as: 'EXPIRED', reason: 'deadline' }],
  ['no step begins without budget, and the end names which',
    ready, step.frozen({ totals: spentTotals }), 'FINALIZING', 'budget.spent', ENDED, { as: 'BUDGET_EXHAUSTED', reason: 'budget.tokens' }],
  ['the last step that the budget allows has no next one',
    Path.start({ maxSteps: 1 }).meet(step.frozen(), step.stored(), step.candidateRejected()), step.frozen(),
    'FINALIZING', 'budget.spent', ENDED, { as: 'BUDGET_EXHAUSTED', reason: 'budget.steps' }],
  ['money spent is named as cost',
    ready, step.frozen({ totals: { ...NO_TOTALS, costMicros: LIMITS.maxCostMicros } }),
    'FINALIZING', 'budget.spent', ENDED, { as: 'BUDGET_EXHAUSTED', reason: 'budget.cost' }],
  ['a worker without the pinned definition hands the run to a person',
    ready, step.frozen({ definition: 'missing' }), 'WAITING_USER', 'definition.missing', ['openWait']],
  ['what repeats is told to the model once',
    looping, step.frozen({ progress: step.NO_PROGRESS }), 'READY', 'loop.correction', ['freezeContext']],
  ['what repeats after its correction ends the run',
    looping.meet(...correction), step.frozen({ progress: step.NO_PROGRESS }),
    'FINALIZING', 'loop.failed', ENDED, { as: 'FAILED', reason: 'loop.repeatedCall' }],
  ['what repeats after its correction goes to a person where the agent says so',
    loopOf({ loops: { ...LIMITS.loops, onLoop: 'handoff' } }).meet(...correction), step.frozen({ progress: step.NO_PROGRESS }),
    'WAITING_USER', 'loop.handoff', ['openWait']],
];

const failedWith = (reason: string): RunEnding => ({ as: 'FAILED', reason });
const spent: RunEnding = { as: 'BUDGET_EXHAUSTED', reason: 'budget.tokens' };

// prettier-ignore
const MODEL_RUNNING: readonly Row[] = [
  ['a stored candidate is judged',
    modelRunning, step.stored(), 'VALIDATING', 'candidate.stored', ['judgeCandidate']],
  ['an attempt whose activity died is collected under its number',
    modelRunning, step.interrupted(), 'MODEL_RUNNING', 'attempt.collect', ['collectAttempt']],
  ['a lost attempt is followed by the next number',
    modelRunning.meet(step.interrupted()), step.lost(), 'MODEL_RUNNING', 'attempt.next', ['callModel']],
  ['attempts are lost a bounded number of times',
    modelRunning.meet(step.interrupted(), step.lost(), step.interrupted()), step.lost(),
    'FINALIZING', 'attempts.lost', ENDED, failedWith('model.attempts_lost')],
  ['a lost attempt counts against the budget',
    modelRunning, step.lost({ totals: spentTotals }), 'FINALIZING', 'budget.spent', ENDED, spent],
  ["the provider's failure is waited out",
    modelRunning, step.failed(), 'MODEL_RUNNING', 'attempt.back_off', ['backOff']],
  ['after the back-off the next number asks again',
    modelRunning.meet(step.failed()), step.backedOff(), 'MODEL_RUNNING', 'attempt.next', ['callModel']],
  ["spent attempts end the run with the provider's error",
    modelRunning.meet(step.failed(), step.backedOff(), step.failed(), step.backedOff()), step.failed(),
    'FINALIZING', 'attempts.spent', ENDED, failedWith('model.overloaded')],
  ['a retry-after beyond the limit ends the run',
    modelRunning, step.failed({ retryAfterMs: LIMITS.maxRetryAfterMs + 1 }),
    'FINALIZING', 'retry.too_late', ENDED, failedWith('model.overloaded')],
  ['a failed attempt counts against the budget',
    modelRunning, step.failed({ totals: spentTotals }), 'FINALIZING', 'budget.spent', ENDED, spent],
  ['a truncated answer is never executed, the next attempt has more room',
    modelRunning, step.truncated(), 'MODEL_RUNNING', 'attempt.more_room', ['callModel']],
  ['room grows a bounded number of times',
    modelRunning.meet(step.truncated()), step.truncated(), 'FINALIZING', 'truncations.spent', ENDED, failedWith('model.truncated')],
  ['a truncated attempt counts against the budget',
    modelRunning, step.truncated({ totals: spentTotals }), 'FINALIZING', 'budget.spent', ENDED, spent],
  ['a paused turn goes on in a new step',
    modelRunning, step.paused(), 'READY', 'turn.paused', NEXT],
  ['a turn is paused a bounded number of times',
    modelRunning.meet(step.paused(), step.frozen()), step.paused(),
    'FINALIZING', 'pauses.spent', ENDED, failedWith('model.paused_too_often')],
  ['a context that is too long is made smaller',
    modelRunning, step.tooLong(), 'READY', 'context.shrunk', NEXT],
  ['a context is made smaller once',
    modelRunning.meet(step.tooLong(), step.frozen()), step.tooLong(),
    'FINALIZING', 'context.exhausted', ENDED, failedWith('model.context_exhausted')],
  ['what the provider rejects is not asked again',
    modelRunning, step.rejectedByProvider(), 'FINALIZING', 'provider.rejected', ENDED, failedWith('model.invalid_request')],
  ['a refusal ends the run',
    modelRunning, step.refused(), 'FINALIZING', 'refusal.failed', ENDED, failedWith('model.refused')],
  ['a refusal goes to a person where the agent says so',
    Path.start({ onRefusal: 'handoff' }).meet(step.frozen()), step.refused(), 'WAITING_USER', 'refusal.handoff', ['openWait']],
];

// prettier-ignore
const VALIDATING: readonly Row[] = [
  ['allowed calls are sent',
    validating, step.judged(step.read(1), step.read(2, { isShort: false })), 'TOOL_RUNNING', 'calls.judged', ['read', 'read']],
  ['all calls that need approval are asked for at once',
    validating, step.judged(step.gated(1), step.gated(2)), 'WAITING_USER', 'calls.judged', ['openWait', 'openWait']],
  ['an approval is asked for while other calls run',
    validating, step.judged(step.read(1), step.gated(2)), 'TOOL_RUNNING', 'calls.judged', ['openWait', 'read']],
  ['a denied call is told to the model in the next step',
    validating, step.judged(step.ended(1, 'PERMISSION_DENIED')), 'READY', 'calls.judged', NEXT],
  ['a candidate with more calls than the budget allows executes none',
    Path.start({ maxToolCalls: 1 }).meet(step.frozen(), step.stored()), step.judged(step.read(1), step.read(2)),
    'FINALIZING', 'budget.spent', ENDED, { as: 'BUDGET_EXHAUSTED', reason: 'budget.toolCalls' }],
  ['an accepted question waits for its answer',
    validating, step.questionAccepted(), 'WAITING_USER', 'question.accepted', ['openWait']],
  ['several matches become a question of the runtime',
    validating, step.ambiguous(), 'WAITING_USER', 'object.ambiguous', ['openWait']],
  ['an accepted analysis is a step of its own',
    validating, step.analyseAccepted(), 'READY', 'analyse.accepted', NEXT],
  ['analyses in a row are bounded',
    validating.meet(step.analyseAccepted(), step.frozen(), step.stored()), step.analyseAccepted(),
    'FINALIZING', 'analyses.spent', ENDED, failedWith('analyses.spent')],
  ['a finish whose conditions are met is checked again before the end',
    validating, step.finishAccepted(), 'FINALIZING', 'finish.done', ['checkEnd'], { as: 'SUCCEEDED', reason: 'finish.done' }],
  ['a block that the records show ends the run with its reason',
    validating, step.blockConfirmed(), 'FINALIZING', 'finish.cannot', ['checkEnd'], failedWith('blocked.permission')],
  ['a rejected candidate goes back with its finding',
    validating, step.candidateRejected(), 'READY', 'candidate.rejected', NEXT],
  ['repairs in a row are bounded',
    validating.meet(...[step.candidateRejected(), step.frozen(), step.stored()], ...[step.candidateRejected(), step.frozen(), step.stored()]), step.candidateRejected(),
    'FINALIZING', 'repairs.spent', ENDED, failedWith('repairs.candidate.empty')],
];

// prettier-ignore
const TOOL_RUNNING: readonly Row[] = [
  ['the last read that ends begins the next step',
    reading, step.readEnded(1), 'READY', 'call.read.ended', NEXT],
  ['a read that ends leaves the run to the approval that is open',
    readingAndApproving, step.readEnded(1), 'WAITING_USER', 'call.read.ended', []],
  ['a settled write begins the next step',
    writing, step.dispatched(1, step.SUCCEEDED), 'READY', 'call.dispatch.ended', NEXT],
  ['an accepted job is polled',
    writing, step.dispatched(1, step.ACCEPTED), 'WAITING_TOOL', 'call.dispatch.ended', ['pursue']],
  ['an unknown outcome is looked up, not sent again',
    writing, step.dispatched(1, step.UNKNOWN), 'WAITING_TOOL', 'call.dispatch.ended', ['pursue']],
  ['an outcome that nobody can look up goes to a person',
    writing, step.dispatched(1, step.UNRESOLVED), 'WAITING_USER', 'call.dispatch.ended', ['openWait']],
  ['new terms at dispatch need a new approval',
    writing, step.dispatched(1, step.APPROVAL_REQUIRED), 'WAITING_USER', 'call.dispatch.ended', ['openWait']],
  ['the second write is sent when the first has ended',
    validating.meet(step.judged(step.write(1), step.write(2))), step.dispatched(1, step.SUCCEEDED),
    'TOOL_RUNNING', 'call.dispatch.ended', ['dispatch']],
  ['a callback that overtakes its receipt settles the call',
    writing, step.moved(1, step.SUCCEEDED), 'READY', 'call.operation.moved', NEXT],
  ['a write that is due again waits for the one in flight',
    validating.meet(step.judged(step.write(1), step.write(2)), step.dispatched(1, step.NOT_EXECUTED)), step.resendDue(1),
    'TOOL_RUNNING', 'call.resend.due', []],
  ['a target with several matches becomes a question of the runtime',
    reading, step.ambiguous(1), 'WAITING_USER', 'call.object.ambiguous', ['openWait']],
  ['an approval sends its call while a read runs',
    readingAndApproving, step.answered('approvalGiven'), 'TOOL_RUNNING', 'wait.approved', ['closeWaits', 'dispatch']],
  ['a denial ends its call while a read runs',
    readingAndApproving, step.answered('approvalDenied'), 'TOOL_RUNNING', 'wait.denied', ['closeWaits']],
  ['a person settles an operation while another is in flight',
    validating.meet(step.judged(step.write(1), step.write(2)), step.dispatched(1, step.UNRESOLVED)), step.reconciled('SUCCEEDED'),
    'TOOL_RUNNING', 'wait.reconciled', ['closeWaits']],
  ['an answer that comes while a read runs is kept for the next step',
    readingAndQuestioned, step.answered('answerGiven'), 'TOOL_RUNNING', 'wait.answered', ['closeWaits']],
  ['an approval that expires while a read runs is told to the model',
    readingAndApproving, step.answered('waitExpired'), 'TOOL_RUNNING', 'wait.expired.told', ['closeWaits']],
  ['an expiry that is the end cuts the read that runs',
    expiring.meet(step.judged(step.read(1), step.gated(2))), step.answered('waitExpired'),
    'TOOL_RUNNING', 'wait.expired.end', ['cancelAttempt', 'stopOperations', 'cancelReads', 'startGrace', 'closeWaits'], { as: 'EXPIRED', reason: 'wait.expired' }],
  ['a write in flight says itself how it ended, also where it was stopped in time',
    endingWithWrite, step.operationsStopped(1), 'TOOL_RUNNING', 'operations.stopped', []],
  ['an end waits for a write in flight no longer than the grace',
    endingWithWrite, step.graceElapsed(), 'FINALIZING', 'ending.grace.over', ['checkEnd'], { as: 'CANCELLED', reason: 'cancelled.signal' }],
  ['a grace without an end changes nothing',
    writing, step.graceElapsed(), 'TOOL_RUNNING', 'grace.late', []],
];

const ENDED_BY_CANCEL: RunEnding = { as: 'CANCELLED', reason: 'cancelled.signal' };

// prettier-ignore
const WAITING_TOOL: readonly Row[] = [
  ['a job that is done begins the next step',
    job, step.moved(1, step.SUCCEEDED), 'READY', 'call.operation.moved', NEXT],
  ['a job that still runs is polled again',
    job, step.moved(1, step.ACCEPTED), 'WAITING_TOOL', 'call.operation.moved', ['pursue']],
  ['a job that nobody knows goes to a person',
    job, step.moved(1, step.UNRESOLVED), 'WAITING_USER', 'call.operation.moved', ['openWait']],
  ['a write proved unexecuted is sent again after its back-off',
    writing.meet(step.dispatched(1, step.NOT_EXECUTED)), step.resendDue(1), 'TOOL_RUNNING', 'call.resend.due', ['dispatch']],
  ['an answer that comes while a job runs is kept for the next step',
    jobAndQuestioned, step.answered('answerGiven'), 'WAITING_TOOL', 'wait.answered', ['closeWaits']],
  ['a question that expires while a job runs leaves the job its grace',
    jobAndQuestioned, step.answered('waitExpired'),
    'WAITING_TOOL', 'wait.expired.end', ['cancelAttempt', 'stopOperations', 'startGrace', 'closeWaits'], { as: 'EXPIRED', reason: 'wait.expired' }],
  ['a question that expires while a job runs is told to the model where the agent says so',
    jobAndQuestionedTold, step.answered('waitExpired'), 'WAITING_TOOL', 'wait.expired.told', ['closeWaits']],
  ['the answer and the job together begin the next step',
    jobAndQuestioned.meet(step.answered('answerGiven')), step.moved(2, step.SUCCEEDED), 'READY', 'call.operation.moved', NEXT],
  ['a write proved unexecuted holds no end up',
    writing.meet(step.dispatched(1, step.NOT_EXECUTED), step.cancelRequested()), step.operationsStopped(1),
    'FINALIZING', 'operations.stopped', ['checkEnd'], ENDED_BY_CANCEL],
  ['a job that was accepted has the grace to end',
    endingWithJob, step.operationsStopped(), 'WAITING_TOOL', 'operations.stopped', []],
  ['a job that ends within the grace ends the run at once',
    endingWithJob, step.moved(1, step.SUCCEEDED), 'FINALIZING', 'call.operation.moved', ['checkEnd'], ENDED_BY_CANCEL],
  ['an end waits for a job no longer than the grace',
    endingWithJob, step.graceElapsed(), 'FINALIZING', 'ending.grace.over', ['checkEnd'], ENDED_BY_CANCEL],
  ['a grace without an end leaves a job alone',
    job, step.graceElapsed(), 'WAITING_TOOL', 'grace.late', []],
  ['an operation that is still open is looked at again',
    withOpenOperation, step.endChecked({ obstacle: 'operationOpen' }), 'WAITING_TOOL', 'end.operation_open', ['checkEnd']],
  ['once no operation is open the whole end is checked',
    withOpenOperation, step.endChecked(), 'FINALIZING', 'end.look_again', ['checkEnd']],
];

const approved: Target = ['TOOL_RUNNING', 'wait.approved', ['closeWaits', 'dispatch']];

// prettier-ignore
const WAITING_USER: readonly Row[] = [
  ['an approval sends its call',
    approving, step.answered('approvalGiven'), ...approved],
  ['a denial is told to the model in the next step',
    approving, step.answered('approvalDenied'), 'READY', 'wait.denied', ['closeWaits', ...NEXT]],
  ['a person settles an operation',
    unresolved, step.reconciled('SUCCEEDED'), 'READY', 'wait.reconciled', ['closeWaits', ...NEXT]],
  ['what a person says was not executed is sent again',
    unresolved, step.reconciled('NOT_EXECUTED'), 'TOOL_RUNNING', 'wait.reconciled', ['closeWaits', 'dispatch']],
  ['a late callback settles what a person was asked about',
    unresolved, step.moved(1, step.SUCCEEDED), 'READY', 'call.operation.moved', ['closeWaits', ...NEXT]],
  ['a job that is done leaves the approval open',
    jobAndApproving, step.moved(1, step.SUCCEEDED), 'WAITING_USER', 'call.operation.moved', []],
  ['a denial leaves the job that runs',
    jobAndApproving, step.answered('approvalDenied'), 'WAITING_TOOL', 'wait.denied', ['closeWaits']],
  ['a back-off that is over does not wait for a person',
    validating.meet(step.judged(step.write(1), step.gated(2)), step.dispatched(1, step.NOT_EXECUTED)), step.resendDue(1),
    'TOOL_RUNNING', 'call.resend.due', ['dispatch']],
  ['an answer is input of the next step',
    questioned, step.answered('answerGiven'), 'READY', 'wait.answered', ['closeWaits', ...NEXT]],
  ['an acceptance lets the end be checked again',
    finalizing.meet(step.endChecked({ obstacle: 'acceptanceRequired' })), step.answered('acceptanceGiven'),
    'FINALIZING', 'acceptance.given', ['closeWaits', 'checkEnd'], { as: 'SUCCEEDED', reason: 'finish.done' }],
  ['a rejected result is revised in a new step',
    accepting, step.answered('acceptanceRejected'), 'READY', 'acceptance.rejected', ['closeWaits', ...NEXT]],
  ['a person who takes over ends the run',
    handedOff, step.answered('takenOver'),
    'FINALIZING', 'handoff.taken', ['closeWaits', 'checkEnd'], { as: 'HANDED_OFF', reason: 'handoff.taken' }],
  ['guidance is input of the next step',
    handedOff, step.answered('guidanceGiven'), 'READY', 'handoff.guided', ['closeWaits', ...NEXT]],
  ['an expired approval is told to the model',
    approving, step.answered('waitExpired'), 'READY', 'wait.expired.told', ['closeWaits', ...NEXT]],
  ['an expired question ends the run',
    questioned, step.answered('waitExpired'),
    'FINALIZING', 'wait.expired.end', ['cancelAttempt', 'stopOperations', 'closeWaits', 'checkEnd'], { as: 'EXPIRED', reason: 'wait.expired' }],
];

// prettier-ignore
const FINALIZING: readonly Row[] = [
  ['no success while an operation is open',
    finalizing, step.endChecked({ obstacle: 'operationOpen' }), 'WAITING_TOOL', 'end.operation_open', ['checkEnd']],
  ['no success while nobody knows the outcome of an operation, and nobody is asked',
    finalizing, step.endChecked({ obstacle: 'reconciliationRequired', about: { step: 1, ordinal: 2 } }),
    'WAITING_USER', 'end.reconciliation_required', ['openWait']],
  ['a commit that a message came before goes back to the plan as it is now',
    finalizing.meet(step.endChecked()), step.commitOvertaken(), 'READY', 'end.plan_changed', ['cancelAttempt', ...NEXT]],
  ['no success without the acceptance that a condition asks for',
    finalizing, step.endChecked({ obstacle: 'acceptanceRequired' }), 'WAITING_USER', 'end.acceptance_required', ['openWait']],
  ['a condition unmet goes back as a gap',
    finalizing, step.endChecked({ obstacle: 'conditionUnmet' }), 'READY', 'end.condition_unmet', NEXT],
  ['a condition unmet goes back a bounded number of times',
    Path.start({ maxRepairs: 0 }).meet(step.frozen(), step.stored(), step.finishAccepted()), step.endChecked({ obstacle: 'conditionUnmet' }),
    'FINALIZING', 'repairs.spent', ['checkEnd'], failedWith('repairs.condition_unmet')],
  ['an end without obstacle is committed',
    finalizing, step.endChecked(), 'FINALIZING', 'end.commit', ['commit']],
  ['a cancel that leaves something unproved says so',
    modelRunning.meet(step.cancelRequested()), step.endChecked({ unproved: 1 }),
    'FINALIZING', 'end.commit', ['commit'], { as: 'CANCEL_UNKNOWN', reason: 'cancelled.signal' }],
  ['nothing is looked at once the commit was asked for',
    committing, (run) => ({ kind: 'endChecked', at: step.AT, unproved: 0, check: run.check ?? 0 }), 'FINALIZING', 'end.too_late', []],
  ['a cancel before the commit replaces an intended success',
    finalizing, step.cancelRequested(), 'FINALIZING', 'ending.cancel', ENDED, ENDED_BY_CANCEL],
  ['a cancel before the commit replaces a failure',
    finalizingFailure, step.cancelRequested(), 'FINALIZING', 'ending.cancel', ENDED, ENDED_BY_CANCEL],
  ['a deadline before the commit replaces an intended success',
    finalizing, step.deadlinePassed(), 'FINALIZING', 'ending.deadline', ENDED, { as: 'EXPIRED', reason: 'deadline' }],
  ['of deadline and cancel the first wins',
    modelRunning.meet(step.deadlinePassed()), step.cancelRequested(),
    'FINALIZING', 'ending.cancel', [], { as: 'EXPIRED', reason: 'deadline' }],
  ['a cancel after the commit was asked for is too late',
    committing, step.cancelRequested(), 'FINALIZING', 'cancel.too_late', [], { as: 'SUCCEEDED', reason: 'finish.done' }],
  ['a deadline after the commit was asked for is too late',
    committing, step.deadlinePassed(), 'FINALIZING', 'deadline.too_late', [], { as: 'SUCCEEDED', reason: 'finish.done' }],
  ['a message before the commit goes into a new step',
    finalizing, step.amended(), 'READY', 'plan.amended', ['cancelAttempt', ...NEXT]],
  ['a withdrawal before the commit goes into a new step',
    finalizing, step.withdrawn(), 'READY', 'plan.withdrawn', ['cancelAttempt', ...NEXT]],
  ['a message after the commit was asked for is too late',
    committing, step.amended(), 'FINALIZING', 'plan.too_late', []],
  ['a withdrawal changes no failure',
    finalizingFailure, step.withdrawn(), 'FINALIZING', 'plan.too_late', []],
  ...TERMINALS.map((terminal): Row =>
    [`the run ends as the row says: ${terminal}`,
    committing, step.committed(terminal), terminal, 'end.committed', ['complete'], { as: terminal, reason: 'as the row says' }],
  ),
];

/** DESIGN.md: "any before FINALIZING". */
// prettier-ignore
const ANY: readonly Row[] = [
  ...(
    [
      ['READY', ready, []],
      ['MODEL_RUNNING', modelRunning, []],
      ['VALIDATING', validating, []],
      ['WAITING_USER', approving, ['closeWaits']],
    ] as const
  ).flatMap(([state, given, closed]): readonly Row[] => [
    [`a message begins a new step in ${state}`,
    given, step.amended(), 'READY', 'plan.amended', ['cancelAttempt', ...closed, ...NEXT]],
    [`a withdrawal begins a new step in ${state}`,
    given, step.withdrawn(), 'READY', 'plan.withdrawn', ['cancelAttempt', ...closed, ...NEXT]],
    ...(
      [
        [step.cancelRequested(), 'ending.cancel', ENDED_BY_CANCEL, 'a cancel'],
        [step.deadlinePassed(), 'ending.deadline', { as: 'EXPIRED', reason: 'deadline' }, 'the deadline'],
        [step.budgetSpent(), 'ending.budget', { as: 'BUDGET_EXHAUSTED', reason: 'budget.cost' }, 'a spent budget'],
      ] as const
    ).map(([on, rule, ending, what]): Row =>
      [`${what} ends the run in ${state}`,
    given, on, 'FINALIZING', rule, ['cancelAttempt', 'stopOperations', ...closed, 'checkEnd'], ending],
    ),
  ]),
  ...(
    [
      ['TOOL_RUNNING', reading, ['cancelReads', 'startGrace']],
      ['TOOL_RUNNING', writing, ['startGrace']],
      ['WAITING_TOOL', job, ['startGrace']],
    ] as const
  ).flatMap(([state, given, left]): readonly Row[] => [
    [`a message leaves ${given === reading ? 'a read' : 'an operation'} in ${state} to end`,
    given, step.amended(), state, 'plan.amended', ['cancelAttempt']],
    [`a withdrawal leaves ${given === reading ? 'a read' : 'an operation'} in ${state} to end`,
    given, step.withdrawn(), state, 'plan.withdrawn', ['cancelAttempt']],
    ...(
      [
        [step.cancelRequested(), 'ending.cancel', ENDED_BY_CANCEL, 'a cancel'],
        [step.deadlinePassed(), 'ending.deadline', { as: 'EXPIRED', reason: 'deadline' }, 'the deadline'],
        [step.budgetSpent(), 'ending.budget', { as: 'BUDGET_EXHAUSTED', reason: 'budget.cost' }, 'a spent budget'],
      ] as const
    ).map(([on, rule, ending, what]): Row =>
      [`${what} leaves ${given === reading ? 'a read' : 'an operation'} in ${state} the grace`,
    given, on, state, rule, ['cancelAttempt', 'stopOperations', ...left], ending],
    ),
  ]),
];

const ROWS: readonly Row[] = [
  ...READY,
  ...MODEL_RUNNING,
  ...VALIDATING,
  ...TOOL_RUNNING,
  ...WAITING_TOOL,
  ...WAITING_USER,
  ...FINALIZING,
  ...ANY,
];

test.each(ROWS.map((row) => ({ fact: row[0], row })))('$fact', ({ row: [, given, on, to, rule, effects, ending] }) => {
  const { run, transition, kinds } = given.meet(on);
  expect({ to: transition?.to, rule: transition?.rule, effects: kinds }).toEqual({ to, rule, effects });
  if (ending !== undefined) expect(run.ending).toMatchObject(ending);
  if (to === 'READY' && given.run.state !== 'READY') expect(run.ending).toBeUndefined();
});

/** A call in flight makes it TOOL_RUNNING, and one that asks WAITING_USER: it cannot be heard of elsewhere. */
const NEVER_MET: ReadonlySet<string> = new Set([
  ...['WAITING_TOOL', 'WAITING_USER'].flatMap((state) => [
    `${state} readEnded call.read.ended`,
    `${state} dispatchEnded call.dispatch.ended`,
    `${state} objectAmbiguous call.object.ambiguous`,
  ]),
  'WAITING_TOOL approvalGiven wait.approved',
  'WAITING_TOOL approvalDenied wait.denied',
  'WAITING_TOOL reconciliationAnswered wait.reconciled',
]);

const branchesOf = (state: State, kind: EventKind): readonly string[] => {
  const cell = TRANSITIONS[state][kind] as Cell;
  return typeof cell === 'string' ? [] : cell.map(({ rule }) => `${state} ${kind} ${rule}`);
};

test('every branch of the table has its row', () => {
  const met = new Set(ROWS.map(([, given, on, , rule]) => `${given.run.state} ${on(given.run).kind} ${rule}`));
  const kinds = Object.keys(TRANSITIONS.READY) as EventKind[];
  const branches = ACTIVE_STATES.flatMap((state) => kinds.flatMap((kind) => branchesOf(state, kind)));
  expect(branches.filter((branch) => !met.has(branch) && !NEVER_MET.has(branch))).toEqual([]);
  expect([...met, ...NEVER_MET].filter((branch) => !branches.includes(branch))).toEqual([]);
});

test('no terminal has a branch', () => {
  const kinds = Object.keys(TRANSITIONS.READY) as EventKind[];
  expect(TERMINALS.flatMap((state) => kinds.flatMap((kind) => branchesOf(state, kind)))).toEqual([]);
});

test('a step is numbered when it begins, and only then', () => {
  for (const [, given, on] of ROWS) {
    const { run, kinds } = given.meet(on);
    const isNew =
      kinds.includes('freezeContext') && !(given.run.state === 'READY' && run.planVersion === given.run.planVersion);
    expect(run.step).toBe(given.run.step + (isNew ? 1 : 0));
  }
});
