/** What the contract's tests start from: each makes a tenant and a run of its own, so that they share one database. */
import { createHash, randomBytes } from 'node:crypto';
import type { MachineEvent } from '../../../workflows/contract/activities';
import {
  evidenceIdOf,
  operationIdOf,
  parseArtifactHash,
  parseRunId,
  parseTenantId,
  parseWaitId,
  type ArtifactHash,
  type OperationId,
} from '../../../workflows/contract/ids';
import type { Fact, Result, RunRef } from '../../../workflows/contract/records';
import { NO_TOTALS } from '../../../workflows/machine/ledger';
import type { Terminal } from '../../../workflows/machine/states';
import type { NewOperation, NewRun, NewWait, Usage } from '../../../store/rows';
import type { Store } from '../../../store/store';

export interface StoreUnderTest {
  readonly store: Store;
  /** A second one on the same database, as another process would have it. */
  readonly other: Store;
  /** Opens one more, which has read nothing yet; whoever asks for it closes it. */
  readonly fresh: () => Store;
  /** Moves the time of both stores forward. */
  readonly advance: (ms: number) => void;
  close(): Promise<void>;
}

export const hashFrom = (text: string): ArtifactHash =>
  parseArtifactHash(createHash('sha256').update(text).digest('hex'));

export const newRef = (tenant?: string): RunRef => {
  const unique = randomBytes(8).toString('hex');
  return { tenant: parseTenantId(tenant ?? `t-${unique}`), run: parseRunId(`run_${unique}`) };
};

export const newRun = (ref: RunRef, changes: Partial<NewRun> = {}): NewRun => ({
  ref,
  agent: 'tickets',
  principal: { subject: 'ada', roles: ['support'] },
  task: { goal: 'Reassign T100', data: { ticket: 'T100' } },
  bodyHash: hashFrom('body'),
  ...changes,
});

export const startedRun = async (store: Store, changes: Partial<NewRun> = {}): Promise<RunRef> => {
  const ref = changes.ref ?? newRef();
  await store.runs.start(newRun(ref, changes));
  await store.runs.open(ref, { definition: hashFrom('definition'), deadlineMs: 3_600_000 });
  return ref;
};

export const event = (seq: number, changes: Partial<MachineEvent> = {}): MachineEvent => ({
  seq,
  from: 'READY',
  event: 'contextFrozen',
  to: 'READY',
  rule: 'loop.correction',
  at: 1_700_000_000_000 + seq,
  cause: {},
  ...changes,
});

export const stepEvent = (seq: number, step: number): MachineEvent =>
  event(seq, { to: 'MODEL_RUNNING', rule: 'context.frozen', cause: { step } });

export const judgedEvent = (seq: number, step: number, changes: Partial<MachineEvent> = {}): MachineEvent =>
  event(seq, {
    from: 'VALIDATING',
    event: 'callsJudged',
    to: 'TOOL_RUNNING',
    rule: 'calls.judged',
    cause: { step },
    ...changes,
  });

export const readEvent = (seq: number, step: number, ordinal: number): MachineEvent =>
  event(seq, {
    from: 'TOOL_RUNNING',
    event: 'readEnded',
    to: 'TOOL_RUNNING',
    rule: 'read.ended',
    cause: { step, ordinal },
  });

export const newOperation = (
  ref: RunRef,
  step: number,
  { ordinal = 1, ...changes }: Partial<NewOperation> = {},
): NewOperation => ({
  id: operationIdOf(ref.run, step, ordinal),
  ref,
  step,
  ordinal,
  call: `toolu_${String(step)}_${String(ordinal)}`,
  tool: 'assign_ticket',
  effect: 'write',
  arguments: hashFrom(`arguments ${String(step)}.${String(ordinal)}`),
  argumentHash: hashFrom(`arguments ${String(step)}.${String(ordinal)}`),
  planVersion: 1,
  ...changes,
});

export const createdOperation = async (
  store: Store,
  ref: RunRef,
  { step = 1, ...changes }: Partial<NewOperation> = {},
): Promise<OperationId> => {
  const operation = newOperation(ref, step, changes);
  await store.operations.create([operation]);
  return operation.id;
};

export const GRANT = Object.freeze({
  decision: 'decision_1',
  timeoutMs: 30_000,
  maySendAgain: true,
  maxToolCalls: 50,
});

/** Settled as the first sender would. */
export const dispatchedOperation = async (
  store: Store,
  ref: RunRef,
  changes: Partial<NewOperation> = {},
): Promise<OperationId> => {
  const id = await createdOperation(store, ref, changes);
  const { kind } = await store.operations.dispatch(ref, id, GRANT);
  if (kind !== 'won') throw new Error(`the dispatch was ${kind}`);
  return id;
};

export const usage = (inputTokens: number, changes: Partial<Usage> = {}): Usage => ({
  inputTokens,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  costMicros: inputTokens * 3,
  isEstimate: false,
  ...changes,
});

export const LIMITS = Object.freeze({ maxTokens: 100_000, maxCostMicros: 1_000_000 });

export const newAttempt = (step: number, attempt: number, reserved = 1_000) => ({
  step,
  attempt,
  context: hashFrom(`context ${String(step)}`),
  reservation: usage(reserved),
  limits: LIMITS,
});

export const fact = (object: string, field: string, changes: Partial<Fact> = {}): Fact => ({
  object,
  field,
  value: 'value',
  evidence: evidenceIdOf(1, 1),
  ...changes,
});

export const newWait = (ref: RunRef, seq: number, changes: Partial<NewWait> = {}): NewWait => ({
  id: parseWaitId(`wait_${ref.run.slice('run_'.length)}_${String(seq)}_1`),
  ref,
  kind: 'approval',
  seq,
  planVersion: 1,
  plan: hashFrom('plan'),
  responseSchema: { type: 'object' },
  expiresInMs: 60_000,
  ...changes,
});

export const resultOf =
  (ref: RunRef, answer = 'done') =>
  (terminal: Terminal): Omit<Result, 'version'> => ({
    schemaVersion: 1,
    run: ref.run,
    terminal,
    reason: 'finish.done',
    answer,
    claims: [],
    operations: [],
    ledger: NO_TOTALS,
    warnings: [],
  });

export const endAs = (ref: RunRef, terminal: Terminal, reason = 'finish.done') => ({
  terminal,
  reason,
  buildResult: resultOf(ref),
});

export const inParallel = <T>(count: number, work: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)));
