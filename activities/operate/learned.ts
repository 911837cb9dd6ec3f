/**
 * What was learned about a write, by its reply, a look-up or a poll: first in memory, so that it can be kept while the
 * database is away, then stored with everything that belongs to it.
 */
import type { LookUpResult, Receipt } from '../../definition/tool';
import type { OperationRow, Settlement } from '../../store/rows';
import type { ErrorCode, Failure } from '../../workflows/contract/errors';
import type { Json } from '../../workflows/contract/json';
import type { ActivityDeps } from '../deps';
import { toConfirmedMatches } from './ambiguous-question';
import { checkOutput, storeOutput, storeRaw, type Called } from './check-output';
import { asToolError, classifyWriteError } from './classify-tool-error';
import { makeFailure } from './failure';
import type { LoadedOperation } from './load-operation';
import { sendBackOffMs } from './next-for-unsent';
import { toStorableJson } from './storable-json';

export interface Learned extends Pick<Settlement, 'state' | 'code' | 'job' | 'resultHash' | 'facts' | 'notBeforeMs'> {
  readonly raw?: Receipt<unknown>['raw'];
  readonly output?: Json;
  readonly failure?: Failure;
}

/** A reply that says it was done. One that cannot be read leaves the outcome to be found out: our own fault settles nothing. */
export const learnFromReply = async (called: Called, receipt: Receipt<unknown>): Promise<Learned> => {
  try {
    return await learnDone(called, receipt);
  } catch {
    return { state: 'UNKNOWN', code: 'TOOL_FAULT', ...rawOf(receipt) };
  }
};

/** Found by a look-up: it happened, whatever our tool makes of its output. */
export const learnFromFound = async (called: Called, receipt: Receipt<unknown>): Promise<Learned> => {
  try {
    return await learnDone(called, receipt);
  } catch (error) {
    const message = `it was executed; its result could not be read (${messageOf(error)})`;
    const failure = makeFailure('TOOL_FAULT', { message, confirmed: { executed: true }, evidence: [called.evidence] });
    return { state: 'SUCCEEDED', code: 'TOOL_FAULT', failure, ...rawOf(receipt) };
  }
};

const learnDone = async (called: Called, receipt: Receipt<unknown>): Promise<Learned> => {
  const { output, facts, resultHash } = await checkOutput(called, receipt.output);
  return { state: 'SUCCEEDED', output, facts, resultHash, ...rawOf(receipt) };
};

const rawOf = ({ raw }: Pick<Receipt<unknown>, 'raw'>): Pick<Learned, 'raw'> => (raw === undefined ? {} : { raw });

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** What a send that ended in an error proves, for that send alone. */
export const learnFromError = (error: unknown, { generation }: { readonly generation: number }): Learned => {
  const fault = classifyWriteError(error);
  const told = asToolError(error);
  const { confirmed, matches, raw } = told?.details ?? {};
  const known = matches !== undefined && matches.length > 0 ? toConfirmedMatches(matches) : confirmed;
  const details = { message: messageOf(error), ...(known === undefined ? {} : { confirmed: toStorableJson(known) }) };
  const learned = { code: fault.code, ...(raw === undefined ? {} : { raw }) };
  switch (fault.kind) {
    case 'failed':
      return { ...learned, state: 'FAILED', failure: makeFailure(fault.code, details) };
    case 'notExecuted': {
      const notBeforeMs = sendBackOffMs(generation, fault.retryAfterMs);
      return { ...learned, state: 'NOT_EXECUTED', failure: makeFailure(fault.code, details), notBeforeMs };
    }
    case 'unknown':
      return {
        ...learned,
        state: 'UNKNOWN',
        ...(fault.retryAfterMs === undefined ? {} : { notBeforeMs: fault.retryAfterMs }),
      };
  }
};

type DecidedLookUp = Exclude<LookUpResult<unknown>, { kind: 'notFound' | 'cannotTell' }>;

/** An answer of a look-up or poll that decides something. */
export const learnFromLookUp = async (called: Called, answer: DecidedLookUp): Promise<Learned> => {
  switch (answer.kind) {
    case 'found':
      return learnFromFound(called, answer);
    case 'failed':
      return { state: 'FAILED', code: answer.code, failure: makeFailure(answer.code, { message: answer.message }) };
    case 'cancelled':
      return cancelled('CANCELLED', 'the far side says that it was cancelled');
    case 'running':
      return { state: 'RUNNING', job: answer.job };
  }
};

export const cancelled = (code: ErrorCode, message: string): Learned => ({
  state: 'CANCELLED',
  code,
  failure: makeFailure(code, { message }),
});

export interface Known {
  readonly row: OperationRow;
  /** By the database's clock. */
  readonly now: number;
}

/** Artifacts first, then the row: a row never names what is not stored. Asked again it stores the same. */
export const storeLearned = async (
  { store }: ActivityDeps,
  { ref, row, evidence }: Pick<LoadedOperation, 'ref' | 'row' | 'evidence'>,
  { learned, generation }: { readonly learned: Learned; readonly generation?: number },
): Promise<Known> => {
  const { raw, output, failure, ...settlement } = learned;
  const [body, value, reason] = await Promise.all([
    storeRaw(store, ref.tenant, raw),
    output === undefined ? {} : storeOutput(store, ref.tenant, output),
    failure === undefined ? {} : store.artifacts.putJson(ref.tenant, failure).then((hash) => ({ failure: hash })),
  ]);
  const hasEvidence = raw !== undefined || output !== undefined || (settlement.facts ?? []).length > 0;
  return store.operations.settle(ref, row.id, {
    ...settlement,
    ...body,
    ...value,
    ...reason,
    ...(hasEvidence ? { evidence } : {}),
    ...(generation === undefined ? {} : { generation }),
  });
};
