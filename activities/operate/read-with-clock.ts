/**
 * The row as it is now, and the database's time. It is a doubt about a send that never was, which by the operation table
 * moves nothing, whatever state the row is in.
 */
import type { Store } from '../../store/store';
import type { OperationId } from '../../workflows/contract/ids';
import type { RunRef } from '../../workflows/contract/records';
import type { Known } from './learned';

const NO_SEND = 0;

export const readWithClock = (
  { operations }: Pick<Store, 'operations'>,
  ref: RunRef,
  id: OperationId,
): Promise<Known> => operations.settle(ref, id, { state: 'UNKNOWN', generation: NO_SEND });
