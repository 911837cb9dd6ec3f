/**
 * From what is stored about a write to what the machine is told: its end, what comes next and when, or that a person has to
 * say. The same row gives the same outcome, whoever looks at it: the sender, a look-up, a poll, or an activity run again.
 */
import type { OperationRow } from '../../store/rows';
import { fingerprintOf } from '../../workflows/contract/ids';
import { assertNever } from '../../workflows/machine/assert';
import type { OperationOutcome } from '../../workflows/machine/events';
import type { ActivityDeps } from '../deps';
import { makeFailure } from './failure';
import { cancelled, storeLearned, type Known, type Learned } from './learned';
import type { LoadedOperation } from './load-operation';
import {
  MAX_LOOK_UPS,
  nextForUnknown,
  quietInMs,
  traitsOf,
  type Inquiry,
  type PersonReason,
  type ToolTraits,
} from './next-for-unknown';
import { nextForUnsent } from './next-for-unsent';
import { nextPoll } from './next-poll';
import { readInbox } from './read-inbox';
import { storeReconciliationPlan } from './reconciliation-plan';
import { findRefusal } from './refusals';
import { isEnding, stopOf } from './stop-of';

export interface Standing extends Known {
  /** What a look-up said that settled nothing by itself. */
  readonly answer?: 'notFound' | 'cannotTell';
  /** When it was asked, by the database's clock. */
  readonly askedAt?: number;
  /** Policy does not permit another send. */
  readonly isDenied?: boolean;
  /** Somebody reported about it, and did not say what became of it: asked at once. */
  readonly mustAsk?: boolean;
}

/** Whatever was recorded last, reports that were there before it are read before anybody is told: they came too early. */
export const conclude = async (
  deps: ActivityDeps,
  operation: LoadedOperation,
  standing: Standing,
): Promise<OperationOutcome> => tell(deps, operation, await hear(deps, operation, standing));

/**
 * What a look-up said before the row moved is no answer about the row as it is. Where a person is being asked, what has been
 * reported is left to a look-up of its own.
 */
const hear = async (deps: ActivityDeps, operation: LoadedOperation, standing: Standing): Promise<Standing> => {
  if (standing.row.state === 'UNRESOLVED') return standing;
  const { row, now, mustAsk } = await readInbox(deps, operation, standing);
  if (row.state !== standing.row.state) return { row, now, mustAsk };
  return { ...standing, row, now, mustAsk };
};

const tell = async (deps: ActivityDeps, operation: LoadedOperation, standing: Standing): Promise<OperationOutcome> => {
  const { row } = standing;
  switch (row.state) {
    case 'SUCCEEDED':
    case 'FAILED':
    case 'CANCELLED':
    case 'REFUSED':
      return toSettled(row, row.state);
    case 'ACCEPTED':
    case 'RUNNING':
      return concludeJob(deps, operation, standing);
    case 'NOT_EXECUTED':
      return concludeUnsent(deps, operation, standing);
    case 'UNKNOWN':
      return concludeUnknown(deps, operation, standing);
    case 'DISPATCHED':
      return {
        kind: 'pending',
        state: 'UNKNOWN',
        next: { action: 'lookUp', afterMs: quietInMs(inquiryOf(operation, standing)) },
      };
    case 'UNRESOLVED':
      return askPerson(deps, operation, { row, why: 'unknown.unresolved' });
    case 'CREATED':
      return { kind: 'pending', state: 'NOT_EXECUTED', next: { action: 'resend', afterMs: HELD_MS } };
    default:
      return assertNever(row.state);
  }
};

/** How long a write waits that another one on the same object holds back, before it asks again. */
export const HELD_MS = 2_000;

type End = Extract<OperationOutcome, { kind: 'settled' }>['state'];

const toSettled = ({ code, resultHash }: OperationRow, state: End): OperationOutcome => ({
  kind: 'settled',
  state,
  ...(code === undefined ? {} : { code }),
  ...(resultHash === undefined ? {} : { result: fingerprintOf(resultHash) }),
});

/** A worker without the pinned tool can find nothing out; another one may take over before the look-ups are spent. */
const MISSING_TOOL: ToolTraits = {
  canLookUp: true,
  isLookUpAuthoritative: false,
  idempotency: 'none',
  settleWindowMs: 0,
  keyRetentionMs: 0,
  maxLookUps: MAX_LOOK_UPS,
  timeoutMs: 0,
};

const inquiryOf = (
  { pinned, run }: LoadedOperation,
  { row, now, answer, askedAt, isDenied = false }: Standing,
): Inquiry => ({
  traits: pinned === undefined ? MISSING_TOOL : traitsOf(pinned.tool),
  operation: row,
  now,
  isStopped: isDenied || stopOf(run, row) !== undefined,
  ...(answer === undefined ? {} : { answer }),
  ...(askedAt === undefined ? {} : { askedAt }),
});

const concludeUnknown = async (
  deps: ActivityDeps,
  operation: LoadedOperation,
  standing: Standing,
): Promise<OperationOutcome> => {
  const { row } = standing;
  const refusal = await findRefusal(deps, operation.ref, row);
  const inquiry = inquiryOf(operation, standing);
  const next = nextForUnknown({ ...inquiry, ...(refusal === undefined ? {} : { refusal }) });
  if (standing.mustAsk === true && inquiry.traits.canLookUp && next.kind !== 'settled') {
    return { kind: 'pending', state: 'UNKNOWN', next: { action: 'lookUp', afterMs: 0 } };
  }
  switch (next.kind) {
    case 'lookUp':
    case 'resend':
      return { kind: 'pending', state: 'UNKNOWN', next: { action: next.kind, afterMs: next.afterMs } };
    case 'settled':
      return moveOn(deps, operation, toLearned(operation, next));
    case 'person':
      return askPerson(deps, operation, { row, why: next.why });
  }
};

type Proved = Extract<ReturnType<typeof nextForUnknown>, { kind: 'settled' }>;

const NOT_HAPPENED = 'the far side does not know it, and nothing of it is under way any more: it was not executed';

const toLearned = ({ run, row }: LoadedOperation, { state, code }: Proved): Learned => {
  if (state === 'CANCELLED') return cancelled(stopOf(run, row) ?? 'CANCELLED', NOT_HAPPENED);
  // The code says why it was not executed, should it never be sent again.
  const reason = code ?? 'UNAVAILABLE';
  return {
    state,
    code: reason,
    failure: makeFailure(reason, { message: NOT_HAPPENED, confirmed: { executed: false } }),
  };
};

/** Stores what follows and looks again. An end or a person is at most two such steps away. */
const moveOn = async (deps: ActivityDeps, operation: LoadedOperation, learned: Learned): Promise<OperationOutcome> =>
  conclude(deps, operation, await storeLearned(deps, operation, { learned }));

const concludeUnsent = async (
  deps: ActivityDeps,
  operation: LoadedOperation,
  { row, now }: Standing,
): Promise<OperationOutcome> => {
  const { run } = operation;
  const next = nextForUnsent({ operation: row, now, deadlineAt: run.deadlineAt, stoppedWith: stopOf(run, row) });
  if (next.kind === 'resend') {
    return { kind: 'pending', state: 'NOT_EXECUTED', next: { action: 'resend', afterMs: next.afterMs } };
  }
  const message = 'it was not executed, and it is not sent again';
  const failure = makeFailure(next.code, { message, confirmed: { executed: false, sends: row.generation } });
  const { store } = deps;
  const settled = await store.operations.settle(operation.ref, row.id, {
    state: next.state,
    code: next.code,
    failure:
      row.failure !== undefined && next.code === row.code
        ? row.failure
        : await store.artifacts.putJson(operation.ref.tenant, failure),
  });
  return conclude(deps, operation, settled);
};

const concludeJob = async (
  deps: ActivityDeps,
  operation: LoadedOperation,
  { row, now, answer, mustAsk }: Standing,
): Promise<OperationOutcome> => {
  const { poll, expectedDurationMs } = operation.pinned?.tool ?? {};
  const next = nextPoll({ poll, expectedDurationMs, operation: row, now, answer });
  if (next.kind === 'unknown') return moveOn(deps, operation, { state: 'UNKNOWN', code: 'OUTCOME_UNKNOWN' });
  const state = row.state === 'ACCEPTED' ? 'ACCEPTED' : 'RUNNING';
  return { kind: 'pending', state, next: { action: 'poll', afterMs: mustAsk === true ? 0 : next.afterMs } };
};

interface Asking {
  readonly row: OperationRow;
  readonly why: PersonReason;
}

/** A run that is ending asks nobody: its operation stays unknown, for `reconcile` to go on with. */
const askPerson = async (
  deps: ActivityDeps,
  operation: LoadedOperation,
  { row, why }: Asking,
): Promise<OperationOutcome> => {
  const plan = await storeReconciliationPlan(deps, operation, { row, why });
  if (isEnding(operation.run) || row.state === 'UNRESOLVED') return { kind: 'unresolved', plan };
  const { ref } = operation;
  const asked = await deps.store.operations.settle(ref, row.id, {
    state: 'UNRESOLVED',
    code: row.code ?? 'OUTCOME_UNKNOWN',
  });
  return asked.row.state === 'UNRESOLVED' ? { kind: 'unresolved', plan } : conclude(deps, operation, asked);
};
