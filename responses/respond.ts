/** A response on its way to its verdict: what has to be read is read first, then it is judged and written in one transaction. */
import type { AgentRegistry } from '../definition/registry';
import { isJsonObject } from '../definition/storable-json';
import { canonicalText, sha256Of } from '../definition/storable-json';
import type { NewResponse, Principal, ResponseReceipt } from '../store/rows';
import type { Store } from '../store/store';
import type { WaitId } from '../workflows/contract/ids';
import type { Json } from '../workflows/contract/json';
import type { RunRef } from '../workflows/contract/records';
import { judgeResponse, MAX_RESPONSE_BYTES, type PreparedResponse } from './judge-response';
import { prepareEdit, type PreparedEdit } from './prepare-edit';
import type { TokenKey } from './token';

export interface RespondDeps {
  readonly store: Store;
  /** Whose policies are known here; without any, every response is refused. */
  readonly agents?: AgentRegistry;
  readonly tokenKey?: TokenKey;
}

export interface ResponseRequest {
  readonly id: string;
  readonly wait: WaitId;
  readonly principal: Principal;
  readonly body: Json;
  readonly stateVersion?: number;
  readonly planVersion?: number;
  readonly token?: string;
}

/** Undefined where the run has no such wait. Throws only what the store throws: every refusal is a verdict. */
export const respond = async (
  { store, agents, tokenKey }: RespondDeps,
  ref: RunRef,
  request: ResponseRequest,
): Promise<ResponseReceipt | undefined> => {
  const { id, wait, principal, stateVersion, planVersion, token } = request;
  const { body, bytes } = withinLimit(request.body);
  const { agent, edit } = await read({ store, agents }, ref, { ...request, body });
  const prepared: PreparedResponse = {
    principal,
    body,
    bytes,
    agent,
    ...(stateVersion === undefined ? {} : { stateVersion }),
    ...(planVersion === undefined ? {} : { planVersion }),
    ...(token === undefined ? {} : { token }),
    ...(tokenKey === undefined ? {} : { tokenKey }),
    ...(edit === undefined ? {} : { edit }),
  };
  const response: NewResponse = {
    id,
    wait,
    principal,
    body,
    ...(edit?.kind === 'ready' ? { edit: edit.edit } : {}),
  };
  return store.waits.respond(ref, response, (about) => judgeResponse(prepared, about));
};

/** One that is refused for its size is not kept, only told apart from others. */
const withinLimit = (body: Json): { readonly body: Json; readonly bytes: number } => {
  const bytes = Buffer.byteLength(canonicalText(body));
  return { bytes, body: bytes <= MAX_RESPONSE_BYTES ? body : { tooLarge: bytes, hash: sha256Of(body) } };
};

type Read = Pick<PreparedResponse, 'agent'> & { readonly edit?: PreparedEdit };

const read = async (
  { store, agents }: Pick<RespondDeps, 'store'> & { readonly agents: AgentRegistry | undefined },
  ref: RunRef,
  { wait: id, body }: ResponseRequest,
): Promise<Read> => {
  const run = await store.runs.get(ref);
  const agent = run && agents?.find(run.agent);
  const given = argumentsOf(body);
  if (run === undefined || agent === undefined || given === undefined) return { agent };
  const wait = (await store.waits.read(ref, id))?.row;
  if (wait?.kind !== 'approval' || wait.operation === undefined) return { agent };
  const operation = await store.operations.get(ref, wait.operation);
  if (operation === undefined) return { agent };
  const edit = await prepareEdit(store, { run, operation, agent, given });
  return { agent, edit };
};

const argumentsOf = (body: Json): Json | undefined => (isJsonObject(body) ? body['arguments'] : undefined);
