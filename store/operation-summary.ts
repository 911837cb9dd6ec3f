/** An operation as conditions, contexts and results name it: no arguments, no output. */
import type { OperationSummary } from '../workflows/contract/records';
import type { OperationRow } from './rows';

export const toOperationSummary = (row: OperationRow): OperationSummary => ({
  id: row.id,
  tool: row.tool,
  effect: row.effect,
  state: row.state,
  generation: row.generation,
  step: row.step,
  ordinal: row.ordinal,
  ...(row.target === undefined ? {} : { target: row.target }),
  ...(row.code === undefined ? {} : { code: row.code }),
  ...(row.evidence === undefined ? {} : { evidence: row.evidence }),
});
