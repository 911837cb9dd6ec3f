import { z } from 'zod';
import { faultRuleSchema } from './faults/fault';
import { resetState, type ServerState } from './server-state';

export interface ControlReply {
  readonly status: number;
  readonly body: unknown;
}

const faultsBodySchema = z.union([z.array(z.unknown()), z.unknown().transform((rule) => [rule])]);

/** `/_control/…`, for those who run the server as a process. Undefined: no such end-point. */
export function control(state: ServerState, endpoint: string, body: Buffer): ControlReply | undefined {
  switch (endpoint) {
    case 'GET /_control/book':
      return { status: 200, body: state.book.entries };
    case 'GET /_control/requests':
      return { status: 200, body: state.log.records };
    case 'GET /_control/script-failures':
      return { status: 200, body: state.scriptFailures.map((failure) => failure.message) };
    case 'POST /_control/faults':
      return addFaults(state, body);
    case 'POST /_control/reset':
      resetState(state);
      return { status: 200, body: { reset: true } };
    default:
      return undefined;
  }
}

/** One rule or a list. All are judged before the first is armed. */
function addFaults(state: ServerState, body: Buffer): ControlReply {
  const json = parseJson(body);
  if (json === undefined) return problem('the body is not JSON');
  const rules = z.array(faultRuleSchema).safeParse(faultsBodySchema.parse(json));
  if (!rules.success) {
    return problem(rules.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; '));
  }
  rules.data.forEach((rule) => {
    state.faults.add(rule);
  });
  return { status: 201, body: { added: rules.data.length } };
}

function problem(detail: string): ControlReply {
  return { status: 400, body: { code: 'model_server.invalid_fault', detail } };
}

function parseJson(body: Buffer): unknown {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return value;
  } catch {
    return undefined;
  }
}
