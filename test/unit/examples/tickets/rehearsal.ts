/**
 * The agent's own parts played together without the runtime around them: planner, conditions, policy and tools, against a
 * desk. It shows what the example decides, not what the runtime guarantees: nothing here is durable, retried or reconciled.
 */
import { createFactsView } from '../../../../activities/context/facts-view';
import { findGaps } from '../../../../activities/context/find-gaps';
import { createPolicy } from '../../../../policy/create-policy';
import { executeRequest } from '../../../../policy/execute-request';
import { compileAgents } from '../../../../definition/compile-agent';
import type { CompiledAgent } from '../../../../definition/registry';
import { createScript } from '../../../../examples/tickets/model-script';
import { ToolError, type AgentDefinition, type CompletionView, type Fact, type JsonObject } from '../../../../index';
import { evidenceIdOf, operationIdOf, parseRunId, parseTenantId } from '../../../../workflows/contract/ids';
import { callsIn, factsOf, requestOf, type PastTurn } from './conversation-fixture';
import { contextOf } from './tool-fixture';

export interface Rehearsed {
  readonly end: 'done' | 'cannot' | 'steps spent';
  readonly answer: string;
  /** Tool names by turn, with the code where a call did not end well. */
  readonly turns: readonly (readonly string[])[];
}

export interface Rehearsal {
  readonly agent: AgentDefinition;
  readonly goal: string;
  readonly data?: JsonObject;
  readonly maxSteps?: number;
  /** What a person answers to a question of the model. */
  readonly answer?: JsonObject;
  /** Before the step with this number. */
  readonly before?: (step: number) => Promise<void>;
}

interface Scene extends Rehearsal {
  readonly compiled: CompiledAgent;
  readonly facts: Fact[];
  readonly operations: CompletionView['operations'][number][];
  readonly turns: PastTurn[];
}

const RUN = parseRunId('run_rehearsal');
const TENANT = parseTenantId('acme');
const ALICE = { subject: 'alice', roles: [] };

export const rehearse = async (rehearsal: Rehearsal): Promise<Rehearsed> => {
  const compiled = compileAgents([rehearsal.agent]).find(rehearsal.agent.name);
  if (compiled === undefined) throw new Error('the agent does not compile');
  const scene: Scene = { ...rehearsal, compiled, facts: [], operations: [], turns: [] };
  const script = createScript();
  for (let step = 1; step <= (rehearsal.maxSteps ?? 12); step += 1) {
    await rehearsal.before?.(step);
    const proposed = callsIn(await script(requestFor(scene, step)));
    const [[tool, input] = ['', {}]] = proposed;
    const refusal = tool === 'finish' ? judgeFinish(scene, parseJson(input)) : undefined;
    if (tool === 'finish' && refusal === undefined) return ended(scene, parseJson(input));
    const ends = await Promise.all(
      proposed.map(([name, args], index) => endOf(scene, [name, parseJson(args)], { step, ordinal: index + 1 })),
    );
    scene.turns.push({
      calls: proposed.map(([name, args], index) => [name, parseJson(args), refusal ?? ends[index] ?? {}]),
    });
  }
  return { end: 'steps spent', answer: '', turns: namesOf(scene) };
};

const parseJson = (value: unknown): JsonObject => JSON.parse(JSON.stringify(value)) as JsonObject;

const viewOf = ({ goal, data = {}, facts, operations }: Scene): CompletionView => ({
  task: { goal, data },
  facts: createFactsView(facts),
  operations,
});

const requestFor = (scene: Scene, step: number) => {
  const { goal, data = {}, turns, facts, compiled } = scene;
  const gaps = parseJson({ gaps: findGaps(compiled, viewOf(scene)) })['gaps'] ?? [];
  return requestOf({
    goal,
    data,
    turns,
    status: { step, gaps, facts: createFactsView(facts).all.map((fact) => parseJson(fact)) },
  });
};

/** Undefined where it is accepted. */
const judgeFinish = (scene: Scene, { outcome, answer, claims }: JsonObject): JsonObject | undefined => {
  if (outcome === 'cannot') return undefined;
  const proposed = parseJson({ schemaVersion: 1, outcome, answer, claims }) as unknown as CompletionView['answer'];
  const view = viewOf(scene);
  const wrong = (proposed?.claims ?? [])
    .flatMap(({ asserts = [] }) => asserts)
    .find(
      ({ object, field, value }) => JSON.stringify(view.facts.find(object, field)?.value) !== JSON.stringify(value),
    );
  if (wrong !== undefined) return { code: 'finish.assertion_wrong', message: JSON.stringify(wrong) };
  const gaps = findGaps(scene.compiled, { ...view, ...(proposed === undefined ? {} : { answer: proposed }) });
  if (gaps.length === 0) return undefined;
  return { code: 'finish.condition_unmet', message: gaps.map(({ name, lacks }) => `${name}: ${lacks}`).join('; ') };
};

const ended = (scene: Scene, { outcome, answer }: JsonObject): Rehearsed => ({
  end: outcome === 'done' ? 'done' : 'cannot',
  answer: typeof answer === 'string' ? answer : '',
  turns: [...namesOf(scene), ['finish']],
});

const namesOf = ({ turns }: Scene): Rehearsed['turns'] =>
  turns.map(({ calls }) =>
    calls.map(([name, , end]) => ('code' in end ? `${name} ${JSON.stringify(end['code']).slice(1, -1)}` : name)),
  );

interface Place {
  readonly step: number;
  readonly ordinal: number;
}

const endOf = async (scene: Scene, [name, args]: readonly [string, JsonObject], place: Place): Promise<JsonObject> => {
  switch (name) {
    case 'finish':
      return {};
    case 'ask_user':
      return scene.answer === undefined
        ? { wait: 'question', expired: true, message: 'nobody answered' }
        : answerOf(scene, scene.answer);
    case 'analyse': {
      const gap = findGaps(scene.compiled, viewOf(scene)).find((each) => each.name === args['gap']);
      return gap?.kind === 'work'
        ? { accepted: true }
        : { code: 'analyse.gap_is_no_work', message: gap?.lacks ?? 'none' };
    }
    default:
      return carryOut(scene, [name, args], place);
  }
};

const answerOf = ({ facts }: Scene, answer: JsonObject): JsonObject => {
  const [fact] = parseFacts(factsOf({ 'response:W9.response': answer }, 'W9.0'));
  if (fact !== undefined) facts.push(fact);
  return { evidence: 'W9.0', wait: 'question', response: answer };
};

const parseFacts = (facts: unknown): readonly Fact[] => facts as readonly Fact[];

const carryOut = async (
  scene: Scene,
  [name, args]: readonly [string, JsonObject],
  place: Place,
): Promise<JsonObject> => {
  const tool = scene.compiled.tools.get(name)?.tool;
  const parsed = tool?.inputSchema.safeParse(args);
  if (tool === undefined || parsed?.success !== true)
    return { code: 'INVALID_ARGUMENT', message: `${name} ${String(parsed?.error)}` };
  const { effect, risk } = tool;
  const call = { tool: { name, effect, risk, argumentSchema: {} }, args };
  const request = executeRequest('execute', {
    ref: { tenant: TENANT, run: RUN },
    agent: 'tickets',
    principal: ALICE,
    call,
  });
  if (createPolicy(scene.agent.policy).evaluate(request).decision === 'deny')
    return { code: 'PERMISSION_DENIED', message: 'not permitted' };
  const target = tool.target?.(parsed.data)?.object;
  const expectedVersion = scene.facts.findLast(
    ({ object, version }) => object === target && version !== undefined,
  )?.version;
  const operation = operationIdOf(RUN, place.step, place.ordinal);
  const summary = {
    id: operation,
    tool: name,
    effect,
    generation: 1,
    ...place,
    ...(target === undefined ? {} : { target }),
  };
  const evidence = evidenceIdOf(place.step, place.ordinal);
  try {
    const context = contextOf({
      operation,
      idempotencyKey: operation,
      ...(expectedVersion === undefined ? {} : { expectedVersion }),
    });
    const result = await tool.execute(parsed.data, context);
    if (result.kind === 'accepted') return { code: 'OUTCOME_UNKNOWN', message: `job ${result.job}` };
    const output: unknown = tool.outputSchema.parse(result.output);
    scene.facts.push(...(tool.facts?.(output, parsed.data) ?? []).map((fact) => ({ ...fact, evidence })));
    scene.operations.push({ ...summary, state: 'SUCCEEDED', evidence });
    return { evidence, result: parseJson(output) };
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    scene.operations.push({ ...summary, state: 'FAILED', code: error.code });
    return { code: error.code, message: error.message };
  }
};
