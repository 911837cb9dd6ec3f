/** Why nothing may be sent for an operation any more, by rows. The dispatching transaction has the last word. */
import type { OperationRow, RunRow } from '../../store/rows';
import type { ErrorCode } from '../../workflows/contract/errors';

export const stopOf = (run: RunRow, row: Pick<OperationRow, 'planVersion'>): ErrorCode | undefined => {
  if (run.cancelRequestedAt !== undefined || run.terminal !== undefined) return 'CANCELLED';
  return row.planVersion === run.planVersion ? undefined : 'SUPERSEDED';
};

/** The run is on its way to an end of its own: nobody is asked any more. */
export const isEnding = (run: RunRow): boolean => run.cancelRequestedAt !== undefined || run.terminal !== undefined;
