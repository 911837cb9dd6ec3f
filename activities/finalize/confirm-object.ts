/**
 * A fresh read before the end, where the agent declares one: what the facts say has to be so still. Only values count; a
 * newer version whose values are the same contradicts nothing that was confirmed.
 */
import { Context } from '@temporalio/activity';
import type { DeclaredFact, Tool } from '../../definition/tool';
import { operationIdOf, evidenceIdOf } from '../../workflows/contract/ids';
import type { JsonObject } from '../../workflows/contract/json';
import type { Finding } from '../../workflows/contract/records';
import type { ActivityDeps } from '../deps';
import { callWithin } from '../operate/call-within';
import { checkOutput } from '../operate/check-output';
import { classifyReadError } from '../operate/classify-tool-error';
import { canonicalText, toStorableJson } from '../operate/storable-json';
import { createPolicy } from '../../policy/create-policy';
import { executeRequest } from '../../policy/execute-request';
import type { EndView } from './check-end';

/** A finding where something has changed, or where it could not be looked at. */
export const confirmObject = async (deps: ActivityDeps, end: EndView): Promise<Finding | undefined> => {
  try {
    const request = end.agent.definition.confirm?.(end.completion);
    if (request === undefined) return undefined;
    const fresh = await readFresh(deps, end, request);
    return typeof fresh === 'string' ? unconfirmed(fresh) : findChange(end, fresh);
  } catch (error) {
    return unconfirmed(classifyReadError(error).code);
  }
};

interface ConfirmRequest {
  readonly tool: string;
  readonly arguments: JsonObject;
}

/** It belongs to no step: the runtime reads by itself. */
const NO_STEP = 0;
const DEFAULT_TIMEOUT_MS = 1_000;
/** It runs within the workflow's own task. */
const MAX_TIMEOUT_MS = 5_000;

/** The facts as they are now, or why they cannot be had. */
const readFresh = async (
  deps: ActivityDeps,
  end: EndView,
  request: ConfirmRequest,
): Promise<readonly DeclaredFact[] | string> => {
  const { agent, ref, row } = end;
  const tool = agent.tools.get(request.tool)?.tool;
  if (tool?.effect !== 'read') return 'no_such_read';
  const parsed = await tool.inputSchema.safeParseAsync(request.arguments);
  if (!parsed.success) return 'INVALID_ARGUMENT';
  if (!isPermitted(end, tool, parsed.data)) return 'PERMISSION_DENIED';
  const operation = operationIdOf(ref.run, NO_STEP, NO_STEP);
  const timeoutMs = Math.min(tool.timeoutMs ?? DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS);
  const result = await callWithin(
    { tool: tool.name, timeoutMs, cancellation: Context.current().cancellationSignal },
    (signal) =>
      tool.execute(parsed.data, {
        tenant: ref.tenant,
        run: ref.run,
        operation,
        principal: row.principal,
        idempotencyKey: operation,
        signal,
      }),
  );
  if (result.kind !== 'done') return 'TOOL_FAULT';
  const checked = await checkOutput(
    { tool, input: parsed.data, evidence: evidenceIdOf(NO_STEP, NO_STEP) },
    result.output,
  );
  return checked.facts;
};

const isPermitted = ({ agent, ref, row, snapshot }: EndView, tool: Tool, input: unknown): boolean => {
  const pinned = snapshot.tools.find(({ name }) => name === tool.name);
  const policy = createPolicy(agent.definition.policy);
  const target = tool.target?.(input)?.object;
  const call = {
    tool: { name: tool.name, effect: tool.effect, risk: tool.risk, argumentSchema: pinned?.inputSchema ?? {} },
    args: toStorableJson(input),
    ...(target === undefined ? {} : { target }),
  };
  const request = executeRequest('execute', { ref, agent: row.agent, principal: row.principal, call });
  return policy.evaluate(request).decision === 'allow';
};

const unconfirmed = (why: string): Finding => ({
  schemaVersion: 1,
  code: 'finish.unconfirmed',
  message: `the object could not be read once more before the end (${why}); read it again and finish then`,
});

const findChange = ({ completion }: EndView, fresh: readonly DeclaredFact[]): Finding | undefined => {
  for (const { object, field, value } of fresh) {
    const known = completion.facts.find(object, field);
    if (known === undefined || canonicalText(known.value) === canonicalText(value)) continue;
    return {
      schemaVersion: 1,
      code: 'finish.object_changed',
      message: `${object} has changed since: its ${field} is no longer what ${known.evidence} says; read it again`,
      field: `${object}.${field}`,
      value: known.value,
      expected: canonicalText(value),
    };
  }
  return undefined;
};
