import type { ExpressionBuilder, Insertable, Selectable } from 'kysely';
import { coordinatesOf, type OperationId } from '../../workflows/contract/ids';
import type { NewOperation, OperationRow } from '../rows';
import { mapPresent, present } from './columns';
import type { Database, OperationsTable } from './schema';
import { decodeText, encodeText } from './text';

/** By its key. The id says the same and is compared as well, so that one of another run is never found. */
export const isOperation = (eb: ExpressionBuilder<Database, 'operations'>, id: OperationId) => {
  const { step, ordinal } = coordinatesOf(id);
  return eb.and({ step, ordinal, id });
};

export const toOperationRow = (row: Selectable<OperationsTable>): OperationRow => ({
  id: row.id,
  ref: { tenant: row.tenant, run: row.run },
  step: row.step,
  ordinal: row.ordinal,
  call: decodeText(row.call),
  tool: row.tool,
  effect: row.effect,
  arguments: row.arguments,
  argumentHash: row.argument_hash,
  planVersion: row.plan_version,
  state: row.state,
  generation: row.generation,
  openGenerations: row.open_generations,
  lookUps: row.look_ups,
  polls: row.polls,
  ...present({
    target: mapPresent(row.target, decodeText),
    expectedVersion: mapPresent(row.expected_version, decodeText),
    equivalent: row.equivalent,
    editedBy: row.edited_by,
    job: mapPresent(row.job, decodeText),
    code: row.code,
    raw: row.raw,
    output: row.output,
    failure: row.failure,
    resultHash: row.result_hash,
    evidence: row.evidence,
    dispatchedAt: row.dispatched_at,
    dispatchDeadlineAt: row.dispatch_deadline_at,
    firstDispatchedAt: row.first_dispatched_at,
    notBeforeAt: row.not_before_at,
  }),
});

export const newOperationColumns = (operation: NewOperation): Omit<Insertable<OperationsTable>, 'created_at'> => ({
  tenant: operation.ref.tenant,
  run: operation.ref.run,
  id: operation.id,
  step: operation.step,
  ordinal: operation.ordinal,
  call: encodeText(operation.call),
  tool: operation.tool,
  effect: operation.effect,
  arguments: operation.arguments,
  argument_hash: operation.argumentHash,
  target: mapPresent(operation.target, encodeText),
  expected_version: mapPresent(operation.expectedVersion, encodeText),
  plan_version: operation.planVersion,
  equivalent: operation.equivalent ?? null,
  state: 'CREATED',
});
