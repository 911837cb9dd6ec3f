/** Waits for one caller, and the caller's answers. */
import { HoldfastError } from '../errors';
import { parseInput } from '../parse-input';
import {
  RESPONSE,
  WAIT_QUERY,
  type ReceiptView,
  type ResponseRequest,
  type WaitPage,
  type WaitQuery,
  type WaitView,
} from '../schemas/wait';
import { given, toIso } from '../views/time';
import { toListedWait, toWaitView } from '../views/wait-view';
import type { ResponseRefusal } from '../../responses/refusals';
import { parseRunId } from '../../workflows/contract/ids';
import type { Scope } from './direct-client';

export const listWaits = async ({ waits, caller }: Scope, query: WaitQuery): Promise<WaitPage> => {
  const { state, kind, run, limit, cursor } = parseInput(WAIT_QUERY, query);
  const filter = { state, limit, ...given({ kind, run: run === undefined ? undefined : parseRunId(run), cursor }) };
  const page = await waits.list(caller, filter);
  return { waits: page.waits.map(toListedWait), ...given({ cursor: page.cursor }) };
};

export const readWait = async ({ waits, caller }: Scope, wait: string): Promise<WaitView> =>
  toWaitView(await waits.get(caller, wait));

/** A refusal is thrown with its own code (`response.…`). */
export const respondTo = async (
  { waits, caller }: Scope,
  run: string,
  request: ResponseRequest,
): Promise<ReceiptView> => {
  const { wait, response, ...said } = parseInput(RESPONSE, request);
  // A wait's id has its run's in it, so another run's wait is none of this run's.
  if (!wait.startsWith(`wait_${run.slice('run_'.length)}_`)) {
    throw new HoldfastError('wait.not_found', `wait: got ${wait}, expected one of ${run}`);
  }
  const receipt = await waits.respond(caller, wait, { body: response, ...given(said) });
  const { verdict } = receipt;
  if (verdict.kind === 'refused') {
    throw new HoldfastError(parseRefusal(verdict.code), verdict.message, given({ field: verdict.field }));
  }
  return {
    id: receipt.id,
    wait: receipt.wait,
    receivedAt: toIso(receipt.receivedAt),
    isRepeated: receipt.isRepeated,
    isSignalled: receipt.isSignalled,
  };
};

// Stored as text, written by the judge alone.
const parseRefusal = (code: string): ResponseRefusal => code as ResponseRefusal;
