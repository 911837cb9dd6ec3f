/** Where the agent asks for it, a person accepts the answer after the facts hold. Each answer needs its own acceptance. */
import type { Answer, Plan } from '../../workflows/contract/records';
import type { Store } from '../../store/store';
import type { ArtifactHash } from '../../workflows/contract/ids';
import type { Json } from '../../workflows/contract/json';
import type { ActivityDeps } from '../deps';
import { acceptanceResponse } from '../waits/response-shapes';
import type { EndView } from './check-end';

const MAX_WAITS = 1_000;

/** The plan that a person has to accept; undefined where nothing is asked, or this very plan was accepted. */
export const checkAcceptance = async (deps: ActivityDeps, end: EndView): Promise<ArtifactHash | undefined> => {
  const { agent, ref, completion } = end;
  if (agent.definition.acceptance !== true || completion.answer === undefined) return undefined;
  const plan = await deps.store.artifacts.putJson(
    ref.tenant,
    await toAcceptancePlan(deps.store, end, completion.answer),
  );
  const waits = await deps.store.waits.list(ref.tenant, { run: ref.run, state: 'CONSUMED', limit: MAX_WAITS });
  const accepted = waits.some((wait) => wait.kind === 'acceptance' && wait.plan === plan && isAccepting(wait.response));
  return accepted ? undefined : plan;
};

const isAccepting = (response: unknown): boolean => {
  const parsed = acceptanceResponse.safeParse(response);
  return parsed.success && parsed.data.accept;
};

/** The whole answer, and all that was done: the same answer about the same deeds is the same plan. */
const toAcceptancePlan = async (
  { artifacts }: Pick<Store, 'artifacts'>,
  end: EndView,
  { answer, claims }: Answer,
): Promise<Plan> => {
  const { operations, snapshot, ref } = end;
  const done = operations.filter(({ effect, state }) => effect === 'write' && state === 'SUCCEEDED');
  const lines = claims.map(({ text, evidence }) => `- ${text} (${evidence.join(', ')})`);
  return {
    schemaVersion: 1,
    kind: 'acceptance',
    why: [
      'The agent has finished and answers:',
      '',
      answer,
      ...(lines.length === 0 ? [] : ['', 'It claims:', ...lines]),
    ].join('\n'),
    operations: await Promise.all(
      done.map(async ({ id, tool, target, expectedVersion, arguments: hash }) => ({
        id,
        tool,
        arguments: parseJson(await artifacts.getJson(ref.tenant, hash)),
        ...(target === undefined ? {} : { target }),
        ...(expectedVersion === undefined ? {} : { expectedVersion }),
        risk: snapshot.tools.find(({ name }) => name === tool)?.risk ?? 'high',
      })),
    ),
    isComplete: true,
  };
};

const parseJson = (value: unknown): Json => value as Json;
