/** Reads what a decision about a run looks at. Two round trips, one where the definition was read before. */
import type { RunRef } from '../../workflows/contract/records';
import type { ArtifactHash, OperationId } from '../../workflows/contract/ids';
import type { DefinitionSnapshot } from '../../definition/snapshot';
import { toOperationSummary } from '../../store/operation-summary';
import type { ActivityDeps } from '../deps';
import type { RunView } from '../run-view';
import { DEFINITION } from './artifact-shapes';
import { createBoundedCache, type BoundedCache } from './bounded-cache';
import { RunMissing, RunNotOpen } from './errors';
import { createFactsView } from './facts-view';
import { readArtifact } from './read-artifact';

export type RunViewDeps = Pick<ActivityDeps, 'store' | 'registry'>;

export interface RunViewRange {
  /** Facts of operations that machine events up to this step name. */
  readonly step: number;
  /** Operations of this step whose events no carrier has brought yet: their facts count too. */
  readonly alsoOf: readonly OperationId[];
}

/** Throws RunMissing, RunNotOpen, and what `readArtifact` throws. */
export const loadRunView = async (deps: RunViewDeps, ref: RunRef, { step, alsoOf }: RunViewRange): Promise<RunView> => {
  const { store, registry } = deps;
  const [row, operations, facts] = await Promise.all([
    store.runs.get(ref),
    store.operations.list(ref),
    store.facts.list(ref, { step, alsoOf }),
  ]);
  if (row === undefined) throw new RunMissing(ref);
  if (row.definition === undefined) throw new RunNotOpen(ref);
  const carried = row.reopens === undefined ? [] : await store.operations.listCarried(ref);
  return {
    row,
    snapshot: await loadDefinition(deps, ref, row.definition),
    agent: registry.find(row.agent),
    operations,
    completion: {
      task: row.task,
      facts: createFactsView(facts),
      operations: [...carried, ...operations].map(toOperationSummary),
    },
  };
};

const CACHED_DEFINITIONS = 200;

/** One cache for each store that was passed in; nothing is kept beyond the store's own life. */
const definitions = new WeakMap<RunViewDeps['store'], BoundedCache<DefinitionSnapshot>>();

/** The pinned definition. Immutable, so it is parsed once and kept under its tenant and hash. */
export const loadDefinition = async (
  { store }: RunViewDeps,
  { tenant }: RunRef,
  hash: ArtifactHash,
): Promise<DefinitionSnapshot> => {
  const cache = definitions.get(store) ?? createBoundedCache<DefinitionSnapshot>({ maxEntries: CACHED_DEFINITIONS });
  definitions.set(store, cache);
  const key = `${tenant}/${hash}`;
  const cached = cache.get(key);
  if (cached !== undefined) return cached;
  const snapshot = await readArtifact(store, { tenant, hash }, DEFINITION);
  cache.set(key, snapshot);
  return snapshot;
};
