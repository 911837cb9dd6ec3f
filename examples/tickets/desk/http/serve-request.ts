/**
 * Takes one request past the fault rules. `handle` does the real work; it is a value, so that a fault may let it happen
 * late, or after the connection has gone.
 */
import { ignoreEndedSleep } from '../core/clock';
import { isBody, isDelay, isOutcome, type FaultTarget, type OutcomeFault } from '../core/faults';
import type { Reply } from '../core/model';
import { DeskProblem } from '../core/problem';
import { clientGone, dropConnection } from './connection';
import type { DeskContext, DeskParts } from './context';
import { bytesOf, toResponse } from './response';

type StatusFault = Extract<OutcomeFault, { kind: 'status' }>;

export interface Served {
  readonly target: FaultTarget;
  readonly handle: () => Reply | Promise<Reply>;
  /** What happens where no rule says otherwise. */
  readonly otherwise?: OutcomeFault;
}

const STATUS_CODES: Readonly<Record<number, string>> = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  409: 'conflict',
  412: 'version_mismatch',
  422: 'unprocessable',
  429: 'rate_limited',
  500: 'internal',
  503: 'unavailable',
};

export async function serveRequest(desk: DeskParts, c: DeskContext, served: Served): Promise<Response> {
  const { faults, scheduler } = desk;
  const delay = faults.take(isDelay, served.target);
  if (delay) await scheduler.sleep(delay.delayMs);
  const reply = await runOutcome(desk, c, served);
  if (reply === 'dropped') return dropConnection(c);
  const body = faults.take(isBody, served.target);
  if (!body) return toResponse(reply);
  const { content, contentType = 'application/json', status = reply.status } = body;
  return new Response(bytesOf(content), { status, headers: { ...reply.headers, 'Content-Type': contentType } });
}

async function runOutcome(desk: DeskParts, c: DeskContext, served: Served): Promise<Reply | 'dropped'> {
  const { faults, scheduler } = desk;
  const work = (): Promise<Reply> => asReply(served.handle);
  const fault = faults.take(isOutcome, served.target) ?? served.otherwise;
  switch (fault?.kind) {
    case undefined:
      return work();
    case 'drop-before-apply':
      return 'dropped';
    case 'apply-then-drop':
      await work();
      return 'dropped';
    case 'apply-late':
      scheduler.after(fault.delayMs, () => void work().catch(ignoreEndedSleep));
      return 'dropped';
    case 'hold-then-apply':
      await scheduler.sleep(fault.delayMs);
      return work();
    case 'apply-then-hold': {
      const reply = await work();
      await scheduler.sleep(fault.delayMs);
      return reply;
    }
    case 'hang':
      await Promise.race([scheduler.forever(), clientGone(c)]);
      return 'dropped';
    case 'status':
      if (fault.applied) await work();
      return statusReply(desk, fault, served.target);
  }
}

/** A refusal is an answer like any other: a fault may hold it back or lose it. */
async function asReply(handle: () => Reply | Promise<Reply>): Promise<Reply> {
  try {
    return await handle();
  } catch (error) {
    if (error instanceof DeskProblem) return error.toReply();
    throw error;
  }
}

function statusReply(desk: DeskParts, fault: StatusFault, target: FaultTarget): Reply {
  const { status, code = STATUS_CODES[status] ?? `status_${String(status)}`, retryAfter } = fault;
  const ticket = target.ticket === undefined ? undefined : desk.store.ticket(target.ticket);
  const isConflict = status === 409 || status === 412;
  return new DeskProblem({
    status,
    code,
    detail: `the desk answers ${String(status)}`,
    ...(isConflict && ticket && { members: { currentVersion: ticket.version } }),
    ...(retryAfter !== undefined && { headers: { 'Retry-After': String(retryAfter) } }),
  }).toReply();
}
