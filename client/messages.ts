/**
 * What people write to a run without having been asked. It says what it is: `amend` changes the plan, `withdraw` takes back
 * what a wait asks about, `new_goal` starts another run and leaves this one alone. Anything else is refused with that.
 */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { showText } from '../responses/show-json';
import type { NewRun, RunRow, WaitRow } from '../store/rows';
import type { PlanMessage, Store } from '../store/store';
import { parseWaitId, runOfWait, type RunId, type WaitId } from '../workflows/contract/ids';
import type { JsonObject } from '../workflows/contract/json';
import { SIGNALS } from '../workflows/contract/messages';
import type { StartTarget } from '../relays/start-workflow';
import { requireCallerId } from './caller-id';
import { HoldfastError, type ClientErrorCode } from './errors';
import { signalRun } from './signal-run';
import { toNewRun, type Caller, type StartRequest } from './start-request';

export const MESSAGE_KINDS = ['amend', 'withdraw', 'new_goal'] as const;
export type MessageKind = (typeof MESSAGE_KINDS)[number];

/** As it comes; what is wrong with it is named. */
export interface Message {
  /** The sender's own, so that sending it again is the same message; else a new one. */
  readonly id?: string;
  readonly kind?: string;
  /** For `amend` and `new_goal` what is to be done, for `withdraw` why, if anything. */
  readonly text?: string;
  /** What `withdraw` takes back. */
  readonly wait?: string;
  /** For `new_goal`: another agent than the run's, and the task's data. */
  readonly agent?: string;
  readonly data?: StartRequest['data'];
}

export interface MessageReceipt {
  readonly id: string;
  readonly kind: MessageKind;
  /** Of this run, from then on; absent for `new_goal`. */
  readonly planVersion?: number;
  /** That `new_goal` has started. */
  readonly started?: RunRow;
  readonly isSignalled: boolean;
}

export interface Messaging extends StartTarget {
  readonly store: Store;
  /** Writes the row and starts its workflow; idempotent. */
  readonly start: (run: NewRun) => Promise<RunRow>;
}

interface Sending {
  readonly caller: Caller;
  readonly run: RunRow;
  readonly id: string;
  readonly message: Message;
}

/** Refusals are noted in the journal of the run. */
export const sendMessage = async (
  options: Messaging,
  { caller, run }: Pick<Sending, 'caller' | 'run'>,
  message: Message,
): Promise<MessageReceipt> => {
  const { id = `msg_${randomUUID()}` } = message;
  requireCallerId('id', id);
  const sending: Sending = { caller, run, id, message };
  try {
    return await send(options, sending);
  } catch (error) {
    if (error instanceof HoldfastError) await noteRefusal(options, sending, error);
    throw error;
  }
};

const KIND = z.enum(MESSAGE_KINDS);

const send = (options: Messaging, sending: Sending): Promise<MessageReceipt> => {
  const kind = KIND.safeParse(sending.message.kind);
  if (!kind.success) throw kindUnknown(sending.message.kind);
  switch (kind.data) {
    case 'amend':
      return changePlan(options, sending, { kind: 'amend', body: { text: requireText(sending.message.text) } });
    case 'withdraw':
      return withdraw(options, sending);
    case 'new_goal':
      return startNew(options, sending);
  }
};

const kindUnknown = (given: string | undefined): HoldfastError => {
  const got = given === undefined ? 'nothing' : JSON.stringify(showText(given));
  const message =
    `kind: got ${got}, expected amend (change this run's plan), withdraw (take back what an open wait asks about; name ` +
    'it in `wait`) or new_goal (start another run, linked to this one, which goes on as it is). An answer to a wait is ' +
    'no message but a response';
  return new HoldfastError('message.kind_unknown', message, { field: 'kind' });
};

const MAX_TEXT_LENGTH = 20_000;

const requireText = (text: string | undefined): string => {
  if (text !== undefined && text.trim() !== '' && text.length <= MAX_TEXT_LENGTH) return text;
  const got = text === undefined ? 'nothing' : `${text.length} characters`;
  throw invalid('text', `got ${got}, expected 1 to ${MAX_TEXT_LENGTH} characters`);
};

const invalid = (field: string, what: string): HoldfastError =>
  new HoldfastError('input.invalid', `${field}: ${what}`, { field });

type Change = Omit<PlanMessage, 'id' | 'subject'>;

const changePlan = async (
  { store, temporal }: Messaging,
  { caller, run, id }: Sending,
  change: Change,
): Promise<MessageReceipt> => {
  const { ref } = run;
  const changed = await store.runs.changePlan(ref, { id, ...change, subject: caller.subject });
  if (changed === undefined) throw refuse('run.ended', `${ref.run} has ended, expected a run that goes on`);
  if (changed === 'ending') throw refuse('run.ending', `${ref.run} is ending, expected a run whose plan still counts`);
  if (changed === 'idTaken') throw refuse('message.id_taken', `id: got ${id}, which was another message of this run`);
  if (changed === 'waitNotOpen') throw waitNotOpen(change.wait ?? '');
  const isSignalled = await signalRun(temporal, ref, { name: SIGNALS.message });
  return { id, kind: change.kind, planVersion: changed.planVersion, isSignalled };
};

const refuse = (code: ClientErrorCode, message: string): HoldfastError => new HoldfastError(code, message);

const waitNotOpen = (wait: string): HoldfastError =>
  refuse('message.wait_not_open', `wait: got ${wait}, expected a wait of this run that is open`);

const withdraw = async (options: Messaging, sending: Sending): Promise<MessageReceipt> => {
  const { run, message } = sending;
  if (message.wait === undefined) throw invalid('wait', 'got nothing, expected the id of the wait that is taken back');
  const wait: WaitId = parseWaitId(message.wait);
  if (runOfWait(wait) !== run.ref.run) throw waitNotOpen(wait);
  const row = (await options.store.waits.read(run.ref, wait))?.row;
  const text = message.text === undefined || message.text === '' ? undefined : requireText(message.text);
  const body = { wait, ...(row === undefined ? {} : await describe(options.store, row)), ...(text && { text }) };
  return changePlan(options, sending, { kind: 'withdraw', wait, body });
};

/** So that the model is told what is taken back: it knows no waits. */
const describe = async (store: Store, { ref, kind, operation }: WaitRow): Promise<JsonObject> => {
  const row = operation === undefined ? undefined : await store.operations.get(ref, operation);
  return { asked: kind, ...(row === undefined ? {} : { tool: row.tool, ...(row.target && { target: row.target }) }) };
};

/** The same message starts the same run. */
const startNew = async (options: Messaging, { caller, run, id, message }: Sending): Promise<MessageReceipt> => {
  const { agent = run.agent, data } = message;
  const request: StartRequest = { agent, goal: requireText(message.text), ...(data === undefined ? {} : { data }) };
  const asked = { ...toNewRun(caller, request, keyOf(run.ref.run, id)), follows: run.ref.run };
  const started = await options.start(asked);
  const body = { kind: 'new_goal', message: id, subject: caller.subject, started: started.ref.run };
  await options.store.journal.note(run.ref, { eventId: `message:${id}:new_goal`, body });
  return { id, kind: 'new_goal', started, isSignalled: true };
};

/** No key that a caller could give has a line break in it. */
const keyOf = (run: RunId, message: string): string => `message\n${run}\n${message}`;

const noteRefusal = async (
  { store }: Messaging,
  { caller, run, id, message }: Sending,
  { code }: HoldfastError,
): Promise<void> => {
  const body = {
    kind: 'message_refused',
    message: id,
    subject: caller.subject,
    asked: message.kind === undefined ? null : showText(message.kind),
    code,
  };
  await store.journal.note(run.ref, { eventId: `message:${id}:${code}`, body });
};
