/**
 * A read: executed, its result stored once. Whoever stores first has read it; everybody else gets that result. A read has no
 * effect, so it is simply run again where its worker died, and cut where the run is cancelled.
 */
import { Context } from '@temporalio/activity';
import { READ_EVIDENCE } from '../../definition/runtime-tools';
import type { Artifact } from '../../store/artifact';
import type { OperationRow, Settlement } from '../../store/rows';
import type { CallInput, Carried, ReadOutcome } from '../../workflows/contract/activities';
import type { ErrorCode } from '../../workflows/contract/errors';
import { fingerprintOf } from '../../workflows/contract/ids';
import type { Json } from '../../workflows/contract/json';
import { readArtifact } from '../context/read-artifact';
import { FAILURE } from '../context/artifact-shapes';
import type { ActivityDeps } from '../deps';
import { withHeartbeat } from '../heartbeat';
import { currentInterruption, toFailure } from '../interruption';
import { toAmbiguousQuestion, toConfirmedMatches } from './ambiguous-question';
import { callWithin } from './call-within';
import { checkOutput, draftOutput, draftRaw } from './check-output';
import { asToolError, classifyReadError } from './classify-tool-error';
import { makeFailure } from './failure';
import { loadOperation, toolContextOf, type LoadedOperation, type PinnedTool } from './load-operation';
import { readEvidence } from './read-evidence';
import { retryAfterMs } from './read-retries';
import { sha256Of, toStorableJson } from './storable-json';

/** At most a second, in the workflow's own task: one try. */
export const readShort = (deps: ActivityDeps, input: CallInput): Promise<ReadOutcome> => {
  const { cancellationSignal } = Context.current();
  return read(deps, input, { maxTries: 1, cancellation: cancellationSignal });
};

const MAX_TRIES = 3;

/** With its own activity; what the far side refuses for a moment is tried again inside its time. */
export const readLong = (deps: ActivityDeps, input: CallInput & Carried): Promise<ReadOutcome> =>
  withHeartbeat(async () => {
    await deps.store.journal.carry(input);
    return read(deps, input, { maxTries: MAX_TRIES, cancellation: Context.current().cancellationSignal });
  });

interface Patience {
  readonly maxTries: number;
  readonly cancellation: AbortSignal;
}

const read = async (deps: ActivityDeps, input: CallInput, patience: Patience): Promise<ReadOutcome> => {
  const operation = await loadOperation(deps, input);
  const stored = isRead(operation.row)
    ? operation.row
    : await deps.store.operations.recordRead(input.ref, operation.row.id, await obtain(deps, operation, patience));
  return toOutcome(deps, operation, stored);
};

const isRead = ({ state }: OperationRow): boolean => state === 'SUCCEEDED' || state === 'FAILED';

/** A result with the artifacts that it names, to be stored with it. */
type Obtained = Settlement & { readonly artifacts?: readonly Artifact[] };

const obtain = async (deps: ActivityDeps, operation: LoadedOperation, patience: Patience): Promise<Obtained> => {
  if (operation.row.tool === READ_EVIDENCE) return readEvidence(deps, operation);
  const { pinned } = operation;
  if (pinned === undefined) {
    return toFailed(deps, operation, { code: 'UNAVAILABLE', message: definitionMessage(operation.row.tool) });
  }
  return readWith(deps, { ...operation, pinned }, patience);
};

const definitionMessage = (tool: string): string =>
  `this worker does not have ${tool} as the run was pinned to it; nothing was read`;

/** Reads of at most a second may run as local activities; see definition/tool.ts. */
const DEFAULT_READ_TIMEOUT_MS = 1_000;

type Pinned = LoadedOperation & { readonly pinned: PinnedTool };

const readWith = async (
  deps: ActivityDeps,
  operation: Pinned,
  { maxTries, cancellation }: Patience,
): Promise<Obtained> => {
  for (let tries = 1; ; tries += 1) {
    try {
      return await readOnce(deps, operation, cancellation);
    } catch (error) {
      throwIfCancelled(cancellation);
      const fault = classifyReadError(error);
      const waitMs =
        tries < maxTries && fault.canRetry
          ? retryAfterMs(fault, { tries, deadlineAt: operation.run.deadlineAt })
          : undefined;
      if (waitMs === undefined) return toFailed(deps, operation, describe(fault.code, error));
      await Context.current()
        .sleep(waitMs)
        .catch(() => throwIfCancelled(cancellation));
    }
  }
};

/** A cancelled read ends as cancelled; a worker's shutdown leaves it to another worker, which reads again. */
const throwIfCancelled = (cancellation: AbortSignal): void => {
  if (cancellation.aborted) throw toFailure(currentInterruption());
};

const readOnce = async (deps: ActivityDeps, operation: Pinned, cancellation: AbortSignal): Promise<Obtained> => {
  const { ref, pinned, evidence } = operation;
  const { tool, input } = pinned;
  const limits = { tool: tool.name, timeoutMs: tool.timeoutMs ?? DEFAULT_READ_TIMEOUT_MS, cancellation };
  const result = await callWithin(limits, (signal) => tool.execute(input, toolContextOf(deps, operation, signal)));
  const receipt = result.kind === 'done' ? result : { output: undefined, raw: result.raw };
  const checked = await checkOutput({ ...pinned, evidence }, receipt.output);
  const raw = draftRaw(deps.store, ref.tenant, receipt.raw);
  const output = draftOutput(deps.store, ref.tenant, checked.output);
  return {
    state: 'SUCCEEDED',
    ...namedRaw(raw),
    output: output.hash,
    resultHash: checked.resultHash,
    evidence,
    facts: checked.facts,
    artifacts: [...raw, output],
  };
};

const namedRaw = ([raw]: readonly Artifact[]): Pick<Settlement, 'raw'> => (raw === undefined ? {} : { raw: raw.hash });

interface Refusal {
  readonly code: ErrorCode;
  readonly message: string;
  readonly confirmed?: Json;
  readonly raw?: string;
}

const describe = (code: ErrorCode, error: unknown): Refusal => {
  const told = asToolError(error);
  const message = error instanceof Error ? error.message : String(error);
  if (told === undefined) return { code, message };
  const { confirmed, matches, raw } = told.details;
  const known = matches !== undefined && matches.length > 0 ? toConfirmedMatches(matches) : confirmed;
  return {
    code,
    message,
    ...(known === undefined ? {} : { confirmed: toStorableJson(known) }),
    ...(raw === undefined ? {} : { raw }),
  };
};

const toFailed = (deps: ActivityDeps, { ref, evidence, row }: LoadedOperation, refusal: Refusal): Obtained => {
  const { code, confirmed, raw } = refusal;
  deps.log.info({ run: ref.run, operation: row.id, tool: row.tool, code }, 'a read failed');
  const failure = makeFailure(code, { ...refusal, evidence: raw === undefined ? [] : [evidence] });
  const stored = deps.store.artifacts.draftJson(ref.tenant, failure);
  const body = draftRaw(deps.store, ref.tenant, raw);
  return {
    state: 'FAILED',
    code,
    failure: stored.hash,
    ...namedRaw(body),
    // Messages may hold a time or a request id; what repeats is the code and what is known.
    resultHash: sha256Of({ code, confirmed: confirmed ?? null }),
    ...(raw === undefined ? {} : { evidence }),
    artifacts: [stored, ...body],
  };
};

const toOutcome = async (deps: ActivityDeps, { ref }: LoadedOperation, row: OperationRow): Promise<ReadOutcome> => {
  const result = fingerprintOf(row.resultHash ?? sha256Of(row.code ?? null));
  if (row.code === undefined) return { result };
  if (row.code !== 'OBJECT_AMBIGUOUS' || row.failure === undefined) return { code: row.code, result };
  const { confirmed } = await readArtifact(deps.store, { tenant: ref.tenant, hash: row.failure }, FAILURE);
  const question = toAmbiguousQuestion(confirmed);
  if (question === undefined) return { code: row.code, result };
  return { code: row.code, result, question: await deps.store.artifacts.putJson(ref.tenant, question) };
};
