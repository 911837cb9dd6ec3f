/**
 * What a write does, in the order in which it is judged: recorded reply, ticket, state, argument, precondition
 * (RFC 9110, 13.2.1: a precondition counts only where the request would otherwise succeed), effect.
 */
import { createHash } from 'node:crypto';
import { etagOf, isMatched } from './etag';
import type { Action, Command, Effect, JobId, RecordedReply, Reply, Ticket } from './model';
import { DeskProblem } from './problem';
import type { DeskStore } from './store';

export interface Applied {
  readonly ticket: Ticket;
  readonly effect: Effect;
}

interface PlanOptions {
  readonly nowMs: number;
  /** The job that does it. */
  readonly job?: JobId;
}

/** Does the write now; a repeated key is the caller's to ask about first. Atomic: the effect, the ticket and the recorded reply are one line of the log. */
export function executeWrite(store: DeskStore, command: Command, nowMs: number): Reply {
  const applied = planEffect(store, command, { nowMs });
  const reply: Reply = {
    status: 200,
    headers: { ETag: etagOf(applied.ticket.version) },
    body: { ticket: applied.ticket, effect: applied.effect },
  };
  const recorded = recordReply(command, reply, nowMs);
  store.commit({ ...applied, ...(recorded && { recorded }) });
  return reply;
}

/** The reply recorded under the command's key, while keys are honoured and this one is remembered. */
export function replayRecorded(store: DeskStore, command: Command, nowMs: number): Reply | undefined {
  const { dedupe, keyRetentionMs } = store.settings;
  if (!dedupe || command.key === undefined) return undefined;
  const recorded = store.recordedReply(command.key);
  if (!recorded || nowMs - recorded.atMs >= keyRetentionMs) return undefined;
  if (recorded.fingerprint !== fingerprint(command)) {
    throw new DeskProblem({
      status: 422,
      code: 'idempotency_key_reused',
      detail: `key ${command.key} was used for another request`,
    });
  }
  return { ...recorded.reply, headers: { ...recorded.reply.headers, 'Idempotent-Replayed': 'true' } };
}

export function recordReply(command: Command, reply: Reply, nowMs: number): RecordedReply | undefined {
  if (command.key === undefined) return undefined;
  return { key: command.key, fingerprint: fingerprint(command), atMs: nowMs, reply };
}

/** Judges the command against the data as they are and says what it would do. Changes nothing. */
export function planEffect(store: DeskStore, command: Command, { nowMs, job }: PlanOptions): Applied {
  const before = requireWritable(store, command);
  const at = new Date(nowMs).toISOString();
  const ticket = { ...changeTicket(before, command.action, at), version: before.version + 1 };
  const effect: Effect = {
    id: store.nextEffectId(),
    key: command.key ?? null,
    kind: command.action.kind,
    ticket: ticket.id,
    ticketVersion: ticket.version,
    at,
    args: argumentsOf(command.action),
    ...(job && { job }),
  };
  return { ticket, effect };
}

export function requireTicket(store: DeskStore, id: string): Ticket {
  const ticket = store.ticket(id);
  if (!ticket) throw new DeskProblem({ status: 404, code: 'ticket_not_found', detail: `there is no ticket ${id}` });
  return ticket;
}

function requireWritable(store: DeskStore, { ticket: id, action, ifMatch }: Command): Ticket {
  const ticket = requireTicket(store, id);
  const members = { currentVersion: ticket.version };
  if (ticket.status === 'closed') {
    throw new DeskProblem({ status: 409, code: 'ticket_closed', detail: `ticket ${ticket.id} is closed`, members });
  }
  if (action.kind === 'reassign' && !store.teams.some((team) => team.id === action.team)) {
    const known = store.teams.map((team) => team.id).join(', ');
    throw new DeskProblem({
      status: 422,
      code: 'team_unknown',
      detail: `team: expected one of ${known}, got ${action.team}`,
    });
  }
  if (ifMatch !== undefined && !isMatched(ifMatch, ticket.version)) {
    throw new DeskProblem({
      status: 412,
      code: 'version_mismatch',
      detail: `ticket ${ticket.id} is at version ${String(ticket.version)}`,
      members,
    });
  }
  return ticket;
}

function changeTicket(ticket: Ticket, action: Action, at: string): Ticket {
  switch (action.kind) {
    case 'reassign':
      return { ...ticket, team: action.team };
    case 'comment': {
      const id = `C${String(ticket.comments.length + 1)}`;
      return { ...ticket, comments: [...ticket.comments, { id, text: action.text, at }] };
    }
    case 'close':
      return { ...ticket, status: 'closed' };
  }
}

function argumentsOf(action: Action): Readonly<Record<string, string>> {
  switch (action.kind) {
    case 'reassign':
      return { team: action.team, ...(action.reason !== undefined && { reason: action.reason }) };
    case 'comment':
      return { text: action.text };
    case 'close':
      return {};
  }
}

/** Two requests are the same when they ask the same of the same ticket; headers and the order of members do not matter. */
function fingerprint({ ticket, action }: Command): string {
  const asked = JSON.stringify([ticket, action.kind, argumentsOf(action)]);
  return createHash('sha256').update(asked).digest('hex');
}
