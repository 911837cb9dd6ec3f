/** Looks up what the second half of a judgement needs, and no more. */
import { placeOf, waitIdOf, type EvidenceId } from '../../workflows/contract/ids';
import type { OperationSummary, RunRef } from '../../workflows/contract/records';
import { loadRunView } from '../context/load-run-view';
import { findRunOfEvidence } from '../context/run-of-evidence';
import type { JudgeDeps } from './load-judge-context';
import type { Prepared } from './judge';
import type { PinnedContext } from './judgement';
import { FORBIDDEN } from './known-tool';
import { recordOperation, type FinishLookUps, type LookUps, type RunStatus } from './look-ups';

type Store = JudgeDeps['store'];

export const loadLookUps = async (deps: JudgeDeps, { work }: Prepared, run: RunStatus): Promise<LookUps> => {
  const none: LookUps = { schemaVersion: 1, run, equivalents: [] };
  if (work.kind === 'calls') return { ...none, equivalents: await findEquivalents(deps.store, work) };
  return work.kind === 'finish' ? { ...none, finish: await lookUpFinish(deps, work) } : none;
};

type Work<Kind extends Prepared['work']['kind']> = Extract<Prepared['work'], { kind: Kind }>;

const findEquivalents = async (store: Store, { context, calls }: Work<'calls'>): Promise<LookUps['equivalents']> => {
  const { ref, step } = context;
  const found = await Promise.all(
    calls.map(async ({ call: { ordinal }, preparation }) => {
      if (preparation.kind !== 'ready') return [];
      const { face, argumentHash } = preparation.ready;
      const like = { tool: face.name, argumentHash, step, beforeOrdinal: ordinal };
      const rows = await store.operations.findEquivalent(ref, like);
      return rows.length === 0 ? [] : [{ ordinal, operations: rows.map(recordOperation) }];
    }),
  );
  return found.flat();
};

const lookUpFinish = async (deps: JudgeDeps, { context, answer }: Work<'finish'>): Promise<FinishLookUps> => {
  const { ref, step } = context;
  const [view, blocks] = await Promise.all([
    loadRunView(deps, ref, { step: step - 1, alsoOf: [] }),
    answer.outcome === 'cannot' ? lookUpBlocks(deps.store, context) : NO_BLOCKS,
  ]);
  const operations = view.completion.operations.filter((operation) => operation.step < step);
  const cited = [...new Set(answer.claims.flatMap(({ evidence }) => evidence))];
  const known = await Promise.all(cited.map((id) => isKnownEvidence(deps.store, { context, operations }, id)));
  return { evidence: cited.filter((_, index) => known[index]), operations, ...blocks };
};

interface Evidenced {
  readonly context: PinnedContext;
  readonly operations: readonly OperationSummary[];
}

/** `E…` is an operation's, or a fact's; `W…` is a response's, which need not have left facts. */
const isKnownEvidence = async (store: Store, { context, operations }: Evidenced, id: EvidenceId): Promise<boolean> => {
  if (operations.some(({ evidence }) => evidence === id)) return true;
  if (context.facts.all.some(({ evidence }) => evidence === id)) return true;
  return isAnsweredWait(store, context.ref, id);
};

const isAnsweredWait = async (store: Store, own: RunRef, id: EvidenceId): Promise<boolean> => {
  const place = placeOf(id);
  if (place.kind !== 'wait') return false;
  const ref = await findRunOfEvidence(store, own, place);
  if (ref === undefined) return false;
  const read = await store.waits.read(ref, waitIdOf(ref.run, place.first, place.second));
  return read?.row.state === 'CONSUMED';
};

type Blocks = Pick<FinishLookUps, 'hasExpiredWait' | 'isWithdrawn' | 'hasForbiddenTool'>;

const NO_BLOCKS: Blocks = { hasExpiredWait: false, isWithdrawn: false, hasForbiddenTool: false };

const lookUpBlocks = async (store: Store, { ref, planVersion, step }: PinnedContext): Promise<Blocks> => {
  const [expired, messages, decisions] = await Promise.all([
    store.waits.list(ref.tenant, { run: ref.run, state: 'EXPIRED', limit: 1 }),
    store.runs.messages(ref, { after: 0, upTo: planVersion }),
    store.decisions.list(ref),
  ]);
  return {
    hasExpiredWait: expired.length > 0,
    isWithdrawn: messages.at(-1)?.kind === 'withdraw',
    hasForbiddenTool: decisions.some((decision) => decision.step < step && decision.evidence['reason'] === FORBIDDEN),
  };
};
