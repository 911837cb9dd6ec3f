/**
 * What the row of a wait says to the run, and what its end makes of the operation that it was about. Whoever reads it does
 * the same, as often as it is read.
 */
import { RowMissing } from '../../store/errors';
import type { OperationRow, WaitRow } from '../../store/rows';
import type { WaitReading } from '../../workflows/contract/activities';
import type { ErrorCode } from '../../workflows/contract/errors';
import { fingerprintOf, waitEvidenceIdOf, type OperationId } from '../../workflows/contract/ids';
import { isUnproved } from '../../workflows/machine/operation-transitions';
import type { ActivityDeps } from '../deps';
import { makeFailure } from '../operate/failure';
import { sha256Of } from '../operate/storable-json';
import {
  acceptanceResponse,
  approvalResponse,
  handoffResponse,
  reconciliationResponse,
  type ReconciledState,
} from './response-shapes';

interface Reading {
  readonly row: WaitRow;
  readonly remainingMs: number;
}

export const readEnd = async (deps: ActivityDeps, { row, remainingMs }: Reading): Promise<WaitReading> => {
  switch (row.state) {
    case 'OPEN':
      return { kind: 'open', remainingMs: Math.max(0, Math.ceil(remainingMs)) };
    case 'VOID':
      return readVoid(deps, row);
    case 'EXPIRED':
      if (row.kind === 'approval') await endUnsent(deps, row, EXPIRED);
      return { kind: 'expired' };
    case 'CONSUMED': {
      const response = await readResponse(deps, row);
      // Last: where this fails the run is woken again.
      await deps.store.wakes.seen(row.ref, 'respond', row.id);
      return { kind: 'consumed', response };
    }
  }
};

/** Void since its operation was settled by other means: that is its answer. Else whoever voided it tells the run. */
const readVoid = async ({ store }: ActivityDeps, wait: WaitRow): Promise<WaitReading> => {
  const operation =
    wait.kind === 'reconciliation' ? await store.operations.get(wait.ref, operationOf(wait)) : undefined;
  if (operation === undefined || isUnproved(operation.state)) return { kind: 'void' };
  return { kind: 'consumed', response: toAnswer(operation, 'FAILED') };
};

type Response = Extract<WaitReading, { kind: 'consumed' }>['response'];

const readResponse = async (deps: ActivityDeps, row: WaitRow): Promise<Response> => {
  const { kind, response } = row;
  switch (kind) {
    case 'question':
      return { kind: 'answerGiven' };
    case 'approval':
      return readApproval(deps, row);
    case 'acceptance':
      return { kind: acceptanceResponse.parse(response).accept ? 'acceptanceGiven' : 'acceptanceRejected' };
    case 'handoff':
      return { kind: handoffResponse.parse(response).take ? 'takenOver' : 'guidanceGiven' };
    case 'reconciliation':
      return readReconciliation(deps, row);
  }
};

const readApproval = async (deps: ActivityDeps, row: WaitRow): Promise<Response> => {
  const { decision, reason } = approvalResponse.parse(row.response);
  if (decision === 'approve') return { kind: 'approvalGiven' };
  const message = `a person denied it${reason === undefined ? '' : `: ${reason}`}; nothing was sent`;
  await endUnsent(deps, row, { state: 'REFUSED', code: 'DENIED', message });
  return { kind: 'approvalDenied' };
};

interface UnsentEnd {
  readonly state: 'REFUSED' | 'CANCELLED';
  readonly code: ErrorCode;
  readonly message: string;
}

const EXPIRED: UnsentEnd = {
  state: 'CANCELLED',
  code: 'EXPIRED',
  message: 'nobody answered in time; nothing was sent',
};

/** One that had been sent before and was proved unexecuted is called off; it cannot be refused any more. */
const endUnsent = async ({ store }: ActivityDeps, row: WaitRow, { state, code, message }: UnsentEnd): Promise<void> => {
  const { ref } = row;
  const operation = operationOf(row);
  const failure = await store.artifacts.putJson(
    ref.tenant,
    makeFailure(code, { message, evidence: [waitEvidenceIdOf(row.id)] }),
  );
  const ended = await store.operations.settle(ref, operation, { state, code, failure });
  if (ended.row.state === 'NOT_EXECUTED')
    await store.operations.settle(ref, operation, { state: 'CANCELLED', code, failure });
};

/** What has been proved meanwhile, by a late reply or a callback, stands against what the person said. */
const readReconciliation = async (deps: ActivityDeps, row: WaitRow): Promise<Response> => {
  const said = reconciliationResponse.parse(row.response);
  return toAnswer(await settleBy(deps, row, said), said.state);
};

const toAnswer = ({ state, code, resultHash }: OperationRow, said: ReconciledState): Response => ({
  kind: 'reconciliationAnswered',
  state: toReconciled(state, said),
  ...(code === undefined ? {} : { code }),
  ...(resultHash === undefined ? {} : { result: fingerprintOf(resultHash) }),
});

const toReconciled = (state: OperationRow['state'], said: ReconciledState): ReconciledState => {
  switch (state) {
    case 'SUCCEEDED':
    case 'NOT_EXECUTED':
      return state;
    case 'FAILED':
    case 'CANCELLED':
    case 'REFUSED':
      return 'FAILED';
    default:
      return said;
  }
};

const settleBy = async (
  { store }: ActivityDeps,
  wait: WaitRow,
  { state, why }: { readonly state: ReconciledState; readonly why: string },
): Promise<OperationRow> => {
  const { ref } = wait;
  const operation = operationOf(wait);
  const evidence = waitEvidenceIdOf(wait.id);
  const facts = [{ object: `operation:${operation}`, field: 'outcome', value: state, evidence }];
  const base = { state, evidence, facts, resultHash: sha256Of({ operation, state }) };
  if (state === 'SUCCEEDED') return (await store.operations.settle(ref, operation, base)).row;
  const message = `a person found out that it was not carried out: ${why}`;
  const failure = makeFailure('UNAVAILABLE', { message, confirmed: { executed: false }, evidence: [evidence] });
  const stored = await store.artifacts.putJson(ref.tenant, failure);
  return (await store.operations.settle(ref, operation, { ...base, code: 'UNAVAILABLE', failure: stored })).row;
};

const operationOf = ({ id, operation }: WaitRow): OperationId => {
  if (operation === undefined) throw new RowMissing(`the operation of ${id}`);
  return operation;
};
