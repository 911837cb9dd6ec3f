import type { IncomingMessage, ServerResponse } from 'node:http';
import { toAnswer, toNativeBlocks, type Answer } from './answer';
import { ApiError, errorBody, errorTypeOf } from './api-error';
import { deliverBody, deliverStream, untilAborted } from './deliver';
import { toEvents, toMessageBody, type ServerEvent } from './events';
import { alterAnswer } from './faults/alter-answer';
import type { Fault, FaultOfKind } from './faults/fault';
import { planDelivery, type Delivery } from './faults/plan-delivery';
import type { RequestOutcome } from './request-log';
import { toScriptRequest } from './script';
import type { ServerState } from './server-state';
import { turnSchema, type ParsedTurn } from './turn';
import { validateRequest, type ValidRequest } from './validate-request/validate-request';

interface Exchange {
  readonly state: ServerState;
  readonly number: number;
  readonly requestId: string;
  readonly at: string;
  readonly response: ServerResponse;
  readonly gone: AbortSignal;
}

/** One `POST /v1/messages`: judge the request, ask the script, send the answer with whatever fault is due. */
export async function answerRequest(
  state: ServerState,
  message: IncomingMessage,
  { response, body, gone }: { readonly response: ServerResponse; readonly body: Buffer; readonly gone: AbortSignal },
): Promise<void> {
  const requestId = state.ids.next('req');
  const at = new Date().toISOString();
  response.setHeader('request-id', requestId);
  const record = state.log.add({ requestId, at, headers: message.headers, body: body.toString('utf8') });
  const exchange: Exchange = { state, number: record.number, requestId, at, response, gone };
  const received = { headers: message.headers, body };
  record.settle(await settle(exchange, () => validateRequest(received, state.limits, state.sent)));
}

async function settle(exchange: Exchange, validate: () => ValidRequest): Promise<RequestOutcome> {
  const valid = attempt(validate);
  if (valid instanceof ApiError) {
    const { status, errorType, message } = valid;
    sendError(exchange, { status, errorType, message });
    return { kind: 'refused', status, errorType, message };
  }
  const ruleFault = exchange.state.faults.take(valid.request, exchange.number);
  if (ruleFault !== undefined && isRefusal(ruleFault)) return refuse(exchange, ruleFault);
  const turn = await askScript(exchange, valid);
  if (turn instanceof ScriptFailure) return failScript(exchange, turn);
  const fault = ruleFault ?? turn.fault;
  if (fault !== undefined && isRefusal(fault)) return refuse(exchange, fault);
  return deliver(exchange, { valid, turn, fault });
}

function attempt(validate: () => ValidRequest): ValidRequest | ApiError {
  try {
    return validate();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

type Refusal = FaultOfKind<'status'> | FaultOfKind<'hang-before-headers'>;

function isRefusal(fault: Fault): fault is Refusal {
  return fault.kind === 'status' || fault.kind === 'hang-before-headers';
}

async function refuse(exchange: Exchange, fault: Refusal): Promise<RequestOutcome> {
  if (fault.kind === 'hang-before-headers') {
    await untilAborted(exchange.gone);
  } else {
    const { status, retryAfter, retryAfterMs } = fault;
    if (retryAfter !== undefined) exchange.response.setHeader('retry-after', retryAfter);
    if (retryAfterMs !== undefined) exchange.response.setHeader('retry-after-ms', retryAfterMs);
    const errorType = fault.errorType ?? errorTypeOf(status);
    sendError(exchange, { status, errorType, message: fault.message ?? `Injected ${status} ${errorType}` });
  }
  return { kind: 'faulted', fault };
}

class ScriptFailure extends Error {}

async function askScript({ state, number }: Exchange, { request }: ValidRequest): Promise<ParsedTurn | ScriptFailure> {
  try {
    return turnSchema.parse(await state.script(toScriptRequest(request, number)));
  } catch (cause) {
    return new ScriptFailure(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/** 400, so that no client tries again what cannot get better. */
function failScript(exchange: Exchange, failure: ScriptFailure): RequestOutcome {
  const message = `model script failed: ${failure.message}`;
  exchange.state.scriptFailures.push(failure);
  sendError(exchange, { status: 400, errorType: errorTypeOf(400), message });
  return { kind: 'script-failed', message };
}

interface DeliveryOrder {
  readonly valid: ValidRequest;
  readonly turn: ParsedTurn;
  readonly fault: Fault | undefined;
}

async function deliver(exchange: Exchange, order: DeliveryOrder): Promise<RequestOutcome> {
  const plan = planAnswer(exchange, order);
  if (plan instanceof ScriptFailure) return failScript(exchange, plan);
  const { answer, events, delivery } = plan;
  const { fault } = order;
  const isStream = order.valid.request.stream === true;
  if (!isStream && fault?.kind === 'error-mid-stream') {
    sendError(exchange, { status: 529, errorType: fault.errorType, message: fault.message });
    return { kind: 'faulted', fault };
  }
  const { state, number, at, response, gone } = exchange;
  state.sent.remember(toNativeBlocks(answer.blocks));
  const target = { response, gone, entry: state.book.open(number, answer, at) };
  const result = isStream
    ? await deliverStream(delivery, target)
    : await deliverBody({ body: JSON.stringify(toMessageBody(answer)), delivery, events }, target);
  const struck = fault === undefined ? {} : { fault };
  if (result === 'abandoned') return { kind: 'abandoned', ...struck };
  const complete = delivery.events.at(-1)?.name === 'message_stop';
  return { kind: 'answered', messageId: answer.id, complete, ...struck };
}

interface PlannedAnswer {
  readonly answer: Answer;
  readonly events: readonly ServerEvent[];
  readonly delivery: Delivery;
}

/** A fault may name a block that the answer does not have: that is a mistake in the script. */
function planAnswer({ state }: Exchange, { valid, turn, fault }: DeliveryOrder): PlannedAnswer | ScriptFailure {
  const { request, inputTokens } = valid;
  const answer = alterAnswer(toAnswer({ turn, request, inputTokens, ids: state.ids }), fault);
  const events = toEvents(answer);
  try {
    return { answer, events, delivery: planDelivery(answer, events, fault) };
  } catch (cause) {
    return new ScriptFailure(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

function sendError(
  { response, requestId }: Exchange,
  error: { readonly status: number; readonly errorType: string; readonly message: string },
): void {
  response.writeHead(error.status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(errorBody(error.errorType, error.message, requestId)));
}
