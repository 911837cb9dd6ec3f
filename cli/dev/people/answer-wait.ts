import type { Caller } from '../../../client/start-request';
import type { Receipt, WaitDetails, Waits } from '../../../client/waits';
import type { Json } from '../../../workflows/contract/json';

export interface Answering {
  readonly waits: Pick<Waits, 'get' | 'respond'>;
  readonly caller: Caller;
}

/** Answers what was shown: with its versions and its token. */
export const answerWait = (
  { waits, caller }: Answering,
  { wait, stateVersion, planVersion, token }: WaitDetails,
  body: Json,
): Promise<Receipt> =>
  waits.respond(caller, wait, { body, stateVersion, planVersion, ...(token === undefined ? {} : { token }) });
