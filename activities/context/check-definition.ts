/** Whether this worker still has what a run was bound to when it opened. */
import type { CompiledAgent } from '../../definition/registry';
import type { DefinitionSnapshot } from '../../definition/snapshot';

/**
 * Every pinned tool with the same hash, and every pinned condition by its name: without one of them the run could do
 * something else than what it was started for, or count as done too early. Instructions are pinned in the snapshot itself;
 * the policy is always the one in force.
 */
export const hasPinnedDefinition = (snapshot: DefinitionSnapshot, agent: CompiledAgent | undefined): boolean => {
  if (agent === undefined) return false;
  const conditions = new Set(agent.definition.conditions.map(({ name }) => name));
  return (
    snapshot.tools.every(({ name, hash }) => agent.tools.get(name)?.hash === hash) &&
    snapshot.conditions.every((name) => conditions.has(name))
  );
};
