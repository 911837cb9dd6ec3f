/** What a decision about a run looks at: its row, its pinned definition, its facts and its operations. */
import type { CompletionView } from '../definition/agent';
import type { CompiledAgent } from '../definition/registry';
import type { DefinitionSnapshot } from '../definition/snapshot';
import type { OperationRow, RunRow } from '../store/rows';

export interface RunView {
  readonly row: RunRow;
  readonly snapshot: DefinitionSnapshot;
  /** This worker's agent; undefined where it has none of that name. Compare tool hashes before relying on it. */
  readonly agent: CompiledAgent | undefined;
  readonly operations: readonly OperationRow[];
  readonly completion: CompletionView;
}
