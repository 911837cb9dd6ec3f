/** `runs resolve`: a person says what became of an operation that was open when its run ended. */
import { RESOLVED_STATES, type ResolveRequest } from '../../../client/resolve';
import type { Action } from '../../context';
import { UsageError } from '../../errors';
import { callerOf, withAfterEnd, type AfterEndOptions } from './with-after-end';

export interface ResolveOptions extends AfterEndOptions {
  readonly operation: string;
  readonly state: string;
  readonly why: string;
  readonly resolutionId?: string;
}

export const runsResolve: Action<ResolveOptions> = (options, context) => {
  const request = toRequest(options);
  const { run, json } = options;
  return withAfterEnd(context, options, async (afterEnd) => {
    const { id, result } = await afterEnd.resolve(callerOf(options), run, request);
    const { output } = context;
    if (json === true) output.printJson({ run, resolution: id, result });
    else output.print(`${run}: ${request.operation} is ${request.state}; the result is now version ${result.version}`);
    return 0;
  });
};

const toRequest = ({ operation, state: given, why, resolutionId }: ResolveOptions): ResolveRequest => {
  const state = RESOLVED_STATES.find((each) => each === given);
  if (state === undefined)
    throw new UsageError(`--state: got '${given}', expected one of ${RESOLVED_STATES.join(', ')}`);
  return { operation, state, why, ...(resolutionId === undefined ? {} : { id: resolutionId }) };
};
