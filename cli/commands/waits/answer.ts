/** `waits approve`, `deny`, `answer`: a response to what is asked now. Its verdict is the command's. */
import type { Receipt, Waits } from '../../../client/waits';
import type { Json, JsonObject } from '../../../workflows/contract/json';
import type { Action, CliContext } from '../../context';
import { readJsonOption } from '../../read-json-option';
import { formatTime } from '../../view/format';
import { callerOf, withWaits, type OneWaitOptions } from './with-waits';

interface AnsweringOptions extends OneWaitOptions {
  readonly responseId?: string;
}

export interface ApproveOptions extends AnsweringOptions {
  readonly arguments?: string;
  readonly reason?: string;
}

export const waitsApprove: Action<ApproveOptions> = (options, context) => {
  const { arguments: given, reason } = options;
  return respond(options, context, {
    decision: 'approve',
    ...(given === undefined ? {} : { arguments: readJsonOption('--arguments', given) }),
    ...(reason === undefined ? {} : { reason }),
  });
};

export interface DenyOptions extends AnsweringOptions {
  readonly reason: string;
}

export const waitsDeny: Action<DenyOptions> = (options, context) =>
  respond(options, context, { decision: 'deny', reason: options.reason });

export interface AnswerOptions extends AnsweringOptions {
  readonly data: string;
}

export const waitsAnswer: Action<AnswerOptions> = (options, context) =>
  respond(options, context, readJsonOption('--data', options.data));

const respond = (options: AnsweringOptions, context: CliContext, body: JsonObject): Promise<number> =>
  withWaits(context, options, async (waits) => tell(await send(waits, options, body), options, context));

/** Versions and token are those of this moment: whoever calls it has seen the wait elsewhere, or trusts it. */
const send = async (waits: Waits, options: AnsweringOptions, body: Json): Promise<Receipt> => {
  const caller = callerOf(options);
  const { wait, responseId } = options;
  const { token, stateVersion, planVersion } = await waits.get(caller, wait);
  return waits.respond(caller, wait, {
    body,
    stateVersion,
    planVersion,
    ...(token === undefined ? {} : { token }),
    ...(responseId === undefined ? {} : { id: responseId }),
  });
};

const tell = (receipt: Receipt, { json }: AnsweringOptions, { output }: CliContext): number => {
  const { id, wait, verdict, receivedAt, isRepeated, isSignalled } = receipt;
  const isAccepted = verdict.kind === 'accepted';
  const at = formatTime(receivedAt);
  if (json === true) {
    const { kind, ...why } = verdict;
    output.printJson({ wait, response: id, verdict: kind, ...why, receivedAt: at, isRepeated });
  } else if (isAccepted) output.print(`${wait}: accepted at ${at}${isRepeated ? ', as before' : ''}`);
  if (!isAccepted) output.note(`${output.noteColors.red('refused:')} ${verdict.message} (${verdict.code})`);
  if (isAccepted && !isSignalled) output.note('the run could not be woken at once: a worker does it');
  return isAccepted ? 0 : 1;
};
