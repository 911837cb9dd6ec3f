/**
 * A second send that the far side refused for good settles only itself while the first may have worked. The refusal is kept
 * as a decision: what is refused for good is not sent a third time where there is another way to find out.
 */
import type { DecisionRow, OperationRow } from '../../store/rows';
import type { ErrorCode } from '../../workflows/contract/errors';
import { isErrorCode } from '../../workflows/contract/errors';
import type { RunRef } from '../../workflows/contract/records';
import type { ActivityDeps } from '../deps';
import type { Learned } from './learned';
import { sha256Of } from './storable-json';

const VALIDATOR = 'reply';
const VERSION = '1';

interface Refused {
  readonly row: OperationRow;
  readonly learned: Learned;
  readonly generation: number;
}

/** Insert-once; nothing where the operation is settled by it. */
export const recordRefusal = async ({ store }: ActivityDeps, ref: RunRef, refused: Refused): Promise<void> => {
  const { row, learned, generation } = refused;
  if (row.state !== 'UNKNOWN' || learned.state !== 'FAILED' || learned.code === undefined) return;
  const decision: DecisionRow = {
    step: row.step,
    attempt: 0,
    ordinal: row.ordinal,
    validator: VALIDATOR,
    validatorVersion: VERSION,
    phase: 'dispatch',
    try: generation,
    inputHash: sha256Of({ operation: row.id, generation }),
    verdict: 'fail',
    code: learned.code,
    evidence: { generation, openGenerations: [...row.openGenerations] },
  };
  await store.decisions.record(ref, [decision]);
};

/** Why the latest send was refused for good, if it was. */
export const findRefusal = async (
  { store }: ActivityDeps,
  ref: RunRef,
  { step, ordinal, generation }: OperationRow,
): Promise<ErrorCode | undefined> => {
  // A refused first send has settled the operation.
  if (generation < 2) return undefined;
  const decisions = await store.decisions.list(ref, step);
  const code = decisions.find(
    (each) => each.validator === VALIDATOR && each.ordinal === ordinal && each.try === generation,
  )?.code;
  return isErrorCode(code) ? code : undefined;
};
