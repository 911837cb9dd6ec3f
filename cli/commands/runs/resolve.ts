/** `runs resolve`: a person says what became of an operation that was open when its run ended. */
import type { ResolveRequest } from '../../../client/resolve';
import type { ResolvedState } from '../../../workflows/contract/reconcile';
import type { Action } from '../../context';
import { callerOf, withAfterEnd, type AfterEndOptions } from './with-after-end';

export interface ResolveOptions extends AfterEndOptions {
  readonly operation: string;
  readonly state: ResolvedState;
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

const toRequest = ({ operation, state, why, resolutionId }: ResolveOptions): ResolveRequest => ({
  operation,
  state,
  why,
  ...(resolutionId === undefined ? {} : { id: resolutionId }),
});
