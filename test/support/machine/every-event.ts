/**
 * Everything that may reach a run where it is: all that its effects, timers, people and messages can answer, and all that may
 * come late, from another step, attempt, call, wait, plan or look. Only what nobody can send is left out: a dispatch that ends
 * without having been started, a decision about a wait of another kind.
 */
import { END_OBSTACLES, type OperationOutcome, type RunEvent } from '../../../workflows/machine/events';
import { parseDerivedId, type WaitId } from '../../../workflows/machine/ids';
import { NO_TOTALS } from '../../../workflows/machine/ledger';
import type { Call, OpenWait, Run } from '../../../workflows/machine/run';
import { isTerminal, TERMINALS, type WaitKind } from '../../../workflows/machine/states';
import * as step from './steps';
import { AT } from './steps';
import { fingerprint, hash } from './world';

const OUTCOMES: readonly OperationOutcome[] = [
  step.SUCCEEDED,
  { kind: 'settled', state: 'FAILED', code: 'STATE_CONFLICT' },
  step.ACCEPTED,
  step.UNKNOWN,
  step.UNKNOWN_TO_RESEND,
  step.NOT_EXECUTED,
  step.UNRESOLVED,
  step.APPROVAL_REQUIRED,
];

export const everyEvent = (run: Run): readonly RunEvent[] => {
  const before: Run = { ...run, step: run.step - 1 };
  return [
    ...contextEvents(run),
    ...contextEvents(before),
    ...[run.attempt?.number ?? 1, 99].flatMap((attempt) => attemptEvents(run.step, attempt)),
    ...attemptEvents(before.step, 1),
    ...judgements(run),
    ...otherVerdicts(run),
    ...otherVerdicts(before),
    ...run.calls.flatMap((call) => callEvents(run, call)),
    ...lateCallEvents(before, 1),
    ...lateCallEvents(run, 99),
    ...run.waits.flatMap(waitEvents),
    ...lateWaitEvents(parseDerivedId<WaitId>('wait_simulated_999_0')),
    ...planEvents(run),
    ...endingEvents(run),
    ...finalEvents(run),
  ];
};

const contextEvents = (run: Run): readonly RunEvent[] =>
  [
    {},
    { progress: step.NO_PROGRESS },
    { definition: 'missing' as const },
    { at: run.deadlineAt },
    { totals: { ...NO_TOTALS, inputTokens: 1e9 } },
  ].map((change) => step.frozen(change)(run));

const attemptEvents = (of: number, attempt: number): readonly RunEvent[] => {
  const base = { at: AT, step: of, attempt, totals: NO_TOTALS };
  return [
    { kind: 'candidateStored', ...base, candidate: hash('candidate') },
    { kind: 'attemptInterrupted', ...base },
    { kind: 'attemptLost', ...base },
    { kind: 'attemptFailed', ...base, code: 'model.overloaded', jitter: 0.5 },
    { kind: 'attemptFailed', ...base, code: 'model.rate_limited', jitter: 0, retryAfterMs: 1e12 },
    { kind: 'attemptTruncated', ...base, candidate: hash('cut') },
    { kind: 'attemptPaused', ...base, candidate: hash('paused') },
    { kind: 'contextTooLong', ...base },
    { kind: 'providerRejected', ...base, code: 'model.invalid_request' },
    { kind: 'modelRefused', ...base, code: 'model.refused' },
    { kind: 'backOffElapsed', ...base },
  ];
};

const judgements = (run: Run): readonly RunEvent[] =>
  [
    [step.read(1)],
    [step.write(1, { object: fingerprint('t') }), step.write(2, { object: fingerprint('t') })],
    [step.gated(1), step.read(2), step.ended(3, 'PERMISSION_DENIED')],
    Array.from({ length: 20 }, (_, index) => step.read(index + 1)),
  ].map((calls) => step.judged(...calls)(run));

const otherVerdicts = (run: Run): readonly RunEvent[] =>
  [
    step.judged(step.ended(1, 'PERMISSION_DENIED')),
    step.questionAccepted(),
    step.analyseAccepted(),
    step.ambiguous(),
    step.finishAccepted(),
    step.blockConfirmed(),
    step.candidateRejected(),
  ].map((make) => make(run));

const callEvents = (run: Run, { ordinal, effect, phase, sends, next }: Call): readonly RunEvent[] => {
  if (phase === 'ENDED') return lateCallEvents(run, ordinal);
  const isLookedInto = effect === 'write' && sends > 0 && next?.action !== 'held';
  const returns =
    effect === 'read'
      ? [step.readEnded(ordinal), step.readEnded(ordinal, { code: 'NOT_FOUND' })]
      : OUTCOMES.map((outcome) => step.dispatched(ordinal, outcome));
  return [
    ...(phase === 'SENDING' ? [...returns, step.ambiguous(ordinal)] : []),
    ...(isLookedInto ? OUTCOMES.map((outcome) => step.moved(ordinal, outcome)) : []),
    step.resendDue(ordinal),
  ].map((make) => make(run));
};

const lateCallEvents = (run: Run, ordinal: number): readonly RunEvent[] =>
  [
    step.readEnded(ordinal),
    ...OUTCOMES.flatMap((outcome) => [step.dispatched(ordinal, outcome), step.moved(ordinal, outcome)]),
    step.resendDue(ordinal),
    step.ambiguous(ordinal),
  ].map((make) => make(run));

const ANSWERS = {
  question: ['answerGiven'],
  approval: ['approvalGiven', 'approvalDenied'],
  acceptance: ['acceptanceGiven', 'acceptanceRejected'],
  handoff: ['takenOver', 'guidanceGiven'],
  reconciliation: [],
} as const satisfies Record<WaitKind, readonly RunEvent['kind'][]>;

const waitEvents = ({ id: wait, kind }: OpenWait): readonly RunEvent[] => [
  ...ANSWERS[kind].map((answer): RunEvent => ({ kind: answer, at: AT, wait })),
  ...(kind === 'reconciliation' ? reconciliations(wait) : []),
  { kind: 'waitExpired', at: AT, wait },
];

const reconciliations = (wait: WaitId): readonly RunEvent[] =>
  (['SUCCEEDED', 'FAILED', 'NOT_EXECUTED'] as const).map((state) => ({
    kind: 'reconciliationAnswered',
    at: AT,
    wait,
    state,
  }));

const lateWaitEvents = (wait: WaitId): readonly RunEvent[] => [
  ...Object.values(ANSWERS).flatMap((answers) => answers.map((kind): RunEvent => ({ kind, at: AT, wait }))),
  ...reconciliations(wait),
  { kind: 'waitExpired', at: AT, wait },
];

const planEvents = ({ step: current, planVersion, calls }: Run): readonly RunEvent[] => {
  const all = calls.map(({ ordinal }) => ordinal);
  return (['amended', 'withdrawn'] as const).flatMap((kind) => [
    { kind, at: AT, planVersion: planVersion + 1, cancelled: [], atStep: current },
    { kind, at: AT, planVersion: planVersion + 1, cancelled: all, atStep: current },
    { kind, at: AT, planVersion: planVersion + 2, cancelled: [1, 2], atStep: current - 1 },
    { kind, at: AT, planVersion, cancelled: all, atStep: current },
  ]);
};

const endingEvents = ({ deadlineAt, calls }: Run): readonly RunEvent[] => [
  { kind: 'cancelRequested', at: AT, source: 'engine' },
  { kind: 'deadlinePassed', at: deadlineAt },
  { kind: 'budgetSpent', at: AT, budget: 'tokens' },
  { kind: 'operationsStopped', at: AT, cancelled: [] },
  { kind: 'operationsStopped', at: AT, cancelled: calls.map(({ ordinal }) => ordinal) },
  { kind: 'graceElapsed', at: AT },
];

const OBSTACLES = [
  {},
  ...END_OBSTACLES.map((obstacle) => ({ obstacle })),
  { obstacle: 'reconciliationRequired' as const, about: { step: 1, ordinal: 1 } },
];

const finalEvents = (run: Run): readonly RunEvent[] => {
  const { check = 0 } = run;
  const looks = [check, check - 1].flatMap((number) =>
    OBSTACLES.flatMap((obstacle) => [0, 1].map((unproved) => ({ check: number, unproved, ...obstacle }))),
  );
  const isCommitted = run.isCommitting === true || isTerminal(run.state);
  return [
    ...looks.map((look) => step.endChecked(look)(run)),
    ...(isCommitted ? TERMINALS.map((terminal) => step.committed(terminal)(run)) : []),
    ...(isCommitted ? [step.commitOvertaken()(run)] : []),
  ];
};
