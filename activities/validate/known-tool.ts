/**
 * Whether there is such a tool for this principal. One that the policy never permits is as unknown as one that does not
 * exist: the model is told the same, the decision says which.
 */
import type { z } from 'zod';
import { READ_EVIDENCE, readEvidenceSchema, RUNTIME_TOOLS } from '../../definition/runtime-tools';
import type { Risk, Tool } from '../../definition/tool';
import type { Json } from '../../workflows/contract/json';
import type { CandidateCall } from '../model/candidate';
import { createPolicy } from '../../policy/create-policy';
import { fail, pass, type Judgement, type PinnedContext, type Validator } from './judgement';
import { showText } from './show-value';

/** What judging needs of a tool, the agent's or the runtime's own. */
export interface ToolFace {
  readonly name: string;
  readonly effect: 'read' | 'write';
  readonly risk: Risk;
  readonly isShort: boolean;
  readonly isRepeatable: boolean;
  readonly inputSchema: z.ZodType;
  /** As pinned: what the model was shown. */
  readonly argumentSchema: Json;
  /** Changes with the tool's schemas and its declaration of effects. */
  readonly hash: string;
  /** Absent for the runtime's own. */
  readonly tool?: Tool;
}

export interface ToolInput {
  readonly context: PinnedContext;
  readonly call: CandidateCall;
}

const judge = ({ context, call }: ToolInput): Judgement<ToolFace> => {
  if (call.name === READ_EVIDENCE) return pass(READ_EVIDENCE_FACE);
  const face = findFace(context, call.name);
  if (face !== undefined && isEverPermitted(context, face)) return pass(face);
  const allowed = listAllowed(context);
  return fail(
    {
      code: 'candidate.unknown_tool',
      error: 'INVALID_ARGUMENT',
      message: `tool: got ${JSON.stringify(showText(call.name))}, expected one of ${allowed.join(', ')}`,
      field: 'tool',
      value: showText(call.name),
      expected: `one of ${allowed.join(', ')}`,
    },
    { reason: face === undefined ? 'unknown' : FORBIDDEN },
  );
};

/** In the decision's evidence; a finish that says "no permission" is shown to be right by it. */
export const FORBIDDEN = 'never_permitted';

const READ_EVIDENCE_FACE: ToolFace = {
  name: READ_EVIDENCE,
  effect: 'read',
  risk: 'low',
  isShort: true,
  isRepeatable: false,
  inputSchema: readEvidenceSchema,
  argumentSchema: RUNTIME_TOOLS.find(({ name }) => name === READ_EVIDENCE)?.inputSchema ?? {},
  hash: 'runtime',
};

/** Reads that declare nothing are taken to be as short as a local activity may be. */
const SHORT_READ_MS = 1_000;

const findFace = ({ agent, snapshot }: PinnedContext, name: string): ToolFace | undefined => {
  const pinned = snapshot.tools.find((tool) => tool.name === name);
  const compiled = agent.tools.get(name);
  if (pinned === undefined || compiled === undefined) return undefined;
  const { tool, hash, inputSchema } = compiled;
  return {
    name,
    effect: tool.effect,
    risk: tool.risk,
    isShort: tool.effect === 'read' && (tool.timeoutMs ?? SHORT_READ_MS) <= SHORT_READ_MS,
    isRepeatable: tool.repeatable === true,
    inputSchema,
    argumentSchema: pinned.inputSchema,
    hash,
    tool,
  };
};

const isEverPermitted = ({ agent, principal, ref }: PinnedContext, { name, effect, risk }: ToolFace): boolean =>
  createPolicy(agent.definition.policy).mayEverExecute({
    principal,
    tenant: ref.tenant,
    resource: { kind: 'tool', name, effect, risk },
  });

const listAllowed = (context: PinnedContext): readonly string[] => [
  ...context.snapshot.tools
    .map(({ name }) => findFace(context, name))
    .filter((face) => face !== undefined)
    .filter((face) => isEverPermitted(context, face))
    .map(({ name }) => name),
  ...RUNTIME_TOOLS.map(({ name }) => name),
];

export const KNOWN_TOOL: Validator<ToolInput, ToolFace> = { name: 'knownTool', version: '1', judge };
