import type { OperationRow, DecisionRow, NewOperation } from './rows';
import type { RunRef } from '../workflows/contract/records';
import type { Artifact } from './artifact';

/** All that judging one candidate leaves behind. */
export interface NewJudgement {
  readonly decisions: readonly DecisionRow[];
  readonly operations: readonly NewOperation[];
  /** What decisions and operations name. */
  readonly artifacts: readonly Artifact[];
}

export interface JudgementStore {
  /**
   * In one statement, each part insert-once as `decisions.record` and `operations.create` have it. Judged again it gives the
   * operations as they are stored.
   */
  record(ref: RunRef, judgement: NewJudgement): Promise<readonly OperationRow[]>;
}
