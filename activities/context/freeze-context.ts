/**
 * READY's one activity: everything that the step may rest on is read now and named in one manifest, whose hash is the
 * context. It writes artifacts alone, which are addressed by their content: a second execution, on this worker or another,
 * changes nothing, and only the answer that the workflow recorded counts.
 */
import type { FreezeInput, FrozenContext } from '../../workflows/contract/activities';
import { operationIdOf, type ArtifactHash } from '../../workflows/contract/ids';
import type { Manifest } from '../../workflows/contract/records';
import type { StepProgress } from '../../workflows/machine/events';
import { tokensOf, type Totals } from '../../workflows/machine/ledger';
import type { ActivityDeps } from '../deps';
import type { RunView } from '../run-view';
import { keepWhole, type Chain, type Chains } from './chain';
import { hasPinnedDefinition } from './check-definition';
import { collectAdditions } from './collect-additions';
import { RunNotOpen } from './errors';
import { extendChain, isSmaller, type Extension } from './extend-chain';
import { findGaps } from './find-gaps';
import type { Frame, Frames } from './frame';
import { loadRunView } from './load-run-view';
import { findClosed, measureProgress } from './measure-progress';
import { renderTail } from './render-tail';
import { chooseFacts, openOperationsOf } from './shown-facts';

export interface FreezeParts {
  readonly deps: Pick<ActivityDeps, 'store' | 'registry'>;
  /** The same store, with what was read of its artifacts kept. */
  readonly store: ContextStore;
  readonly chains: Chains;
  readonly frames: Frames;
}

export type ContextStore = Pick<ActivityDeps['store'], 'artifacts' | 'ledger' | 'operations' | 'runs' | 'waits'>;

/** What was read first: the parent, and the run as it stands. */
interface Standing {
  readonly input: FreezeInput;
  readonly parent: Manifest | undefined;
  readonly view: RunView;
  readonly definition: ArtifactHash;
  readonly totals: Totals;
  readonly messages: Awaited<ReturnType<ActivityDeps['store']['runs']['messages']>>;
}

export const createFreezeContext =
  (parts: FreezeParts) =>
  async (input: FreezeInput): Promise<FrozenContext> =>
    freezeContext(parts, await readStanding(parts, input));

/** Before the run is READY. Undefined for an agent with a memory, which is read in READY and nowhere else. */
export const createFreezeAhead =
  (parts: FreezeParts) =>
  async (input: FreezeInput): Promise<FrozenContext | undefined> => {
    const standing = await readStanding(parts, input);
    return standing.view.agent?.definition.memory === undefined ? freezeContext(parts, standing) : undefined;
  };

const freezeContext = async (parts: FreezeParts, standing: Standing): Promise<FrozenContext> => {
  const { input, view, totals } = standing;
  const gaps = view.agent === undefined ? (standing.parent?.gaps ?? []) : findGaps(view.agent, view.completion);
  const draft = await draftManifest(parts, standing, gaps);
  const { manifest, chain } = await extend(parts, standing, draft);
  const context = await parts.store.artifacts.putJson(input.ref.tenant, manifest);
  parts.chains.remember(input.ref, context, { manifest, chain });
  const progress = await progressOf(parts, standing, gaps);
  return {
    context,
    ...(input.freeze.parent === undefined ? { totals } : {}),
    definition: hasPinnedDefinition(view.snapshot, view.agent) ? 'pinned' : 'missing',
    ...(progress === undefined ? {} : { progress }),
  };
};

/** The plan of a run that nobody has changed. */
const FIRST_PLAN = 1;

const readStanding = async ({ deps, store, chains }: FreezeParts, input: FreezeInput): Promise<Standing> => {
  const { ref, planVersion, freeze } = input;
  const parent = freeze.parent === undefined ? undefined : await chains.manifest(ref, freeze.parent);
  const seen = parent?.planVersion ?? FIRST_PLAN;
  const alsoOf = freeze.input.ended.map(({ ordinal }) => operationIdOf(ref.run, parent?.step ?? 0, ordinal));
  const [view, totals, messages] = await Promise.all([
    loadRunView(deps, ref, { step: freeze.step - 1, alsoOf }),
    input.totals ?? store.ledger.totals(ref),
    planVersion > seen ? store.runs.messages(ref, { after: seen, upTo: planVersion }) : [],
  ]);
  const { definition } = view.row;
  if (definition === undefined) throw new RunNotOpen(ref);
  return { input, parent, view, definition, totals, messages };
};

type Draft = Omit<Manifest, 'parent' | 'kept' | 'leftOut'>;

const draftManifest = async (
  { store, frames }: FreezeParts,
  standing: Standing,
  gaps: Manifest['gaps'],
): Promise<Draft> => {
  const { input, parent, view, definition, totals, messages } = standing;
  const { ref, planVersion, freeze } = input;
  const { agent, snapshot, operations, completion } = view;
  const closed = findClosed(parent?.gaps ?? [], gaps);
  const about = { ref, input: freeze.input, exchangeStep: parent?.step ?? 0, operations, agent, gaps, messages };
  const [adds, memory, frame] = await Promise.all([
    collectAdditions(store, about),
    remember(store, standing),
    frames.frame(ref, definition, view.row),
  ]);
  return {
    schemaVersion: 1,
    run: ref.run,
    step: freeze.step,
    planVersion,
    adds,
    definition,
    policyVersion: agent?.snapshot.policyVersion ?? snapshot.policyVersion,
    model: snapshot.model.model,
    remaining: remainingOf(frame, standing, totals),
    ...(memory === undefined ? {} : { memory }),
    gaps,
    ...(closed.length === 0 ? {} : { closed }),
    facts: chooseFacts(completion.facts.all, gaps),
    openOperations: openOperationsOf(completion.operations),
    shrinks: freeze.input.shrinks,
  };
};

/** Read here and nowhere else; an attempt only ever sees what was frozen. */
const remember = async (store: ContextStore, { input, view }: Standing): Promise<ArtifactHash | undefined> => {
  const memory = await view.agent?.definition.memory?.(view.completion);
  return memory === undefined ? undefined : store.artifacts.putJson(input.ref.tenant, memory);
};

const remainingOf = ({ limits }: Frame, { input, view }: Standing, totals: Totals): Manifest['remaining'] => ({
  // This step included.
  steps: atLeastNone(limits.maxSteps - input.freeze.step + 1),
  tokens: atLeastNone(limits.maxTokens - tokensOf(totals)),
  costMicros: atLeastNone(limits.maxCostMicros - totals.costMicros),
  toolCalls: atLeastNone(limits.maxToolCalls - totals.toolCalls),
  deadlineMs: atLeastNone((view.row.deadlineAt ?? 0) - Date.now()),
});

const atLeastNone = (left: number): number => Math.max(0, Math.floor(left));

const extend = async (
  { chains, frames, store }: FreezeParts,
  { input: { ref, freeze }, parent, view, definition }: Standing,
  draft: Draft,
): Promise<{ readonly manifest: Manifest; readonly chain: Chain }> => {
  const { model: sizes } = view.snapshot;
  const { shrinks } = draft;
  const [added, below, frame, tail] = await Promise.all([
    chains.render(
      ref,
      draft.adds.map((addition) => keepWhole(addition, shrinks)),
      sizes,
    ),
    freeze.parent === undefined ? undefined : chains.chain(ref, freeze.parent, sizes),
    frames.frame(ref, definition, view.row),
    renderTail(store, ref, draft),
  ]);
  const extension: Extension = {
    parent:
      freeze.parent === undefined || parent === undefined || below === undefined
        ? undefined
        : { hash: freeze.parent, shrinks: parent.shrinks, chain: below },
    added,
    shrinks,
    maxContextBytes: sizes.maxContextBytes,
    frameBytes: frame.bytes + Buffer.byteLength(JSON.stringify(tail)) + WRAPPING_BYTES,
  };
  const { chain, links } = extendChain(await shrunk(chains, extension, { ref, sizes }));
  return { manifest: { ...draft, ...links }, chain };
};

/** Of what stands around the blocks. */
const WRAPPING_BYTES = 256;

interface RenderTarget {
  readonly ref: FreezeInput['ref'];
  readonly sizes: RunView['snapshot']['model'];
}

/** For a smaller context the results of all that is kept are shown shorter. */
const shrunk = async (chains: Chains, extension: Extension, { ref, sizes }: RenderTarget): Promise<Extension> => {
  const { parent, shrinks } = extension;
  if (parent === undefined || !isSmaller(extension)) return extension;
  const again = parent.chain.items.map(({ rendered: _larger, ...kept }) => ({
    ...kept,
    shrinks: Math.max(shrinks, kept.shrinks ?? 0),
  }));
  const items = await chains.render(ref, again, sizes);
  return { ...extension, parent: { ...parent, chain: { ...parent.chain, items } } };
};

const progressOf = async (
  { store }: FreezeParts,
  { input: { ref, freeze }, parent, view }: Standing,
  gaps: Manifest['gaps'],
): Promise<StepProgress | undefined> => {
  if (parent === undefined) return undefined;
  const waits = await Promise.all(freeze.input.waits.map((wait) => store.waits.read(ref, wait)));
  return measureProgress({
    step: parent.step,
    ended: freeze.input.ended.map(({ ordinal }) => ordinal),
    operations: view.operations,
    gapsBefore: parent.gaps,
    gapsAfter: gaps,
    hasResponse: waits.some((wait) => wait?.row.state === 'CONSUMED'),
  });
};
