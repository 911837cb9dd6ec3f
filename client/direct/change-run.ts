/** What one caller sends to a run. */
import { parseInput } from '../parse-input';
import type { ResolveRequest } from '../resolve';
import { MESSAGE, type MessageReceiptView, type MessageRequest, type ResolutionView } from '../schemas/change';
import { RESULT } from '../schemas/result';
import { given } from '../views/time';
import type { Scope } from './direct-client';

export const sendMessage = async (
  { runs, caller }: Scope,
  run: string,
  request: MessageRequest,
): Promise<MessageReceiptView> => {
  const receipt = await runs.message(caller, run, given(parseInput(MESSAGE, request)));
  return {
    id: receipt.id,
    kind: receipt.kind,
    isSignalled: receipt.isSignalled,
    ...given({ planVersion: receipt.planVersion, started: receipt.started?.ref.run }),
  };
};

export const resolve = async (
  { afterEnd, caller }: Scope,
  run: string,
  request: ResolveRequest,
): Promise<ResolutionView> => {
  const { id, result } = await afterEnd.resolve(caller, run, request);
  return { id, result: RESULT.parse(result) };
};
