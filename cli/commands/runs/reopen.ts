/** `runs reopen`: goes on where a run has ended, in a new run. */
import type { ReopenRequest } from '../../../client/reopen';
import type { Action } from '../../context';
import { readJsonOption } from '../../read-json-option';
import { callerOf, withAfterEnd, type AfterEndOptions } from './with-after-end';

export interface ReopenOptions extends AfterEndOptions {
  readonly goal?: string;
  readonly data?: string;
  readonly limits?: string;
}

export const runsReopen: Action<ReopenOptions> = (options, context) => {
  const request = toRequest(options);
  const { run, tenant, json } = options;
  return withAfterEnd(context, options, async (afterEnd) => {
    const { ref, state } = await afterEnd.reopen(callerOf(options), run, request);
    const { output } = context;
    if (json === true) output.printJson({ run: ref.run, reopens: run, tenant, state });
    else {
      output.print(ref.run);
      output.note(`it goes on where ${run} has ended; watch it with: npx holdfast runs watch ${ref.run}`);
    }
    return 0;
  });
};

const toRequest = ({ goal, data, limits }: ReopenOptions): ReopenRequest => ({
  ...(goal === undefined ? {} : { goal }),
  ...(data === undefined ? {} : { data: readJsonOption('--data', data) }),
  ...(limits === undefined ? {} : { limits: readJsonOption('--limits', limits) }),
});
