/** How a call is put to the policy: the same when it is proposed and when it is about to be sent. */
import type { Risk } from '../definition/tool';
import type { Principal } from '../store/rows';
import type { Json } from '../workflows/contract/json';
import type { RunRef } from '../workflows/contract/records';
import type { PolicyRequest } from './create-policy';

export interface ExecuteSubject {
  readonly ref: RunRef;
  readonly agent: string;
  readonly principal: Principal;
  readonly call: {
    readonly tool: {
      readonly name: string;
      readonly effect: 'read' | 'write';
      readonly risk: Risk;
      /** The tool's JSON Schema as pinned: it says which numbers are decimals. */
      readonly argumentSchema: Json;
    };
    /** Canonical: the schema's output. */
    readonly args: Json;
    readonly target?: string;
  };
}

export const executeRequest = (action: 'execute' | 'executeUnattended', subject: ExecuteSubject): PolicyRequest => {
  const { ref, agent, principal, call } = subject;
  const { name, effect, risk, argumentSchema } = call.tool;
  return {
    action,
    principal,
    tenant: ref.tenant,
    resource: { kind: 'tool', name, effect, risk },
    context: { args: call.args, agent, run: ref.run, ...(call.target === undefined ? {} : { target: call.target }) },
    argumentSchema,
  };
};
