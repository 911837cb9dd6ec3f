/** Opens a wait with everything that whoever answers it has to see. */
import type { NewWait } from '../../store/rows';
import type { OpenWaitInput, WaitReading } from '../../workflows/contract/activities';
import { operationIdOf, type ArtifactHash } from '../../workflows/contract/ids';
import type { JsonObject } from '../../workflows/contract/json';
import type { Plan } from '../../workflows/contract/records';
import { QUESTION } from '../context/artifact-shapes';
import { RunMissing, RunNotOpen } from '../context/errors';
import { loadDefinition } from '../context/load-run-view';
import { readArtifact } from '../context/read-artifact';
import type { ActivityDeps } from '../deps';
import { readEnd } from './read-end';
import { RESPONSE_SCHEMAS } from './response-shapes';

export const openWait = async (deps: ActivityDeps, input: OpenWaitInput): Promise<WaitReading> =>
  readEnd(deps, await deps.store.waits.open(input, await toWait(deps, input)));

const toWait = async (deps: ActivityDeps, input: OpenWaitInput): Promise<NewWait> => {
  const { ref, wait, waitKind, step, ordinal, seq, planVersion, reason } = input;
  const run = await deps.store.runs.get(ref);
  if (run === undefined) throw new RunMissing(ref);
  if (run.definition === undefined) throw new RunNotOpen(ref);
  const { waits } = await loadDefinition(deps, ref, run.definition);
  const plan = input.plan ?? (await storePlan(deps, input));
  return {
    id: wait,
    ref,
    kind: waitKind,
    seq,
    planVersion,
    plan,
    responseSchema: await schemaOf(deps, input, plan),
    expiresInMs: waits[waitKind].expiresInMs,
    ...(ordinal === undefined ? {} : { operation: operationIdOf(ref.run, step, ordinal) }),
    ...(reason === undefined ? {} : { reason }),
  };
};

const schemaOf = async (
  { store }: ActivityDeps,
  { ref, waitKind }: OpenWaitInput,
  plan: ArtifactHash,
): Promise<JsonObject> => {
  if (waitKind !== 'question') return RESPONSE_SCHEMAS[waitKind];
  const question = await readArtifact(store, { tenant: ref.tenant, hash: plan }, QUESTION);
  return question.responseSchema;
};

const storePlan = ({ store }: ActivityDeps, input: OpenWaitInput): Promise<ArtifactHash> =>
  store.artifacts.putJson(input.ref.tenant, toPlan(input));

/** Only a hand-off is opened without one. */
const toPlan = ({ waitKind, step, reason, diagnosis }: OpenWaitInput): Plan => ({
  schemaVersion: 1,
  kind: waitKind === 'acceptance' ? 'acceptance' : 'handoff',
  why: `The run stopped in step ${String(step)}${reason === undefined ? '' : `: ${describe(reason)}`}.`,
  operations: [],
  isComplete: true,
  ...(diagnosis === undefined ? {} : { diagnosis }),
});

const REASONS: ReadonlyMap<string, string> = new Map([
  ['definition.missing', 'this worker lacks the definition that the run was pinned to, and nothing was sent'],
  ['loop', 'it repeated itself without getting further'],
]);

const describe = (reason: string): string => {
  const words = REASONS.get(reason);
  return words === undefined ? reason : `${words} (${reason})`;
};
