/** `runs message`: what somebody wants of a run without having been asked. */
import type { Message, MessageReceipt } from '../../../client/messages';
import type { Action, CliContext } from '../../context';
import { readJsonOption } from '../../read-json-option';
import { withServices } from '../../services';
import type { OneRunOptions } from './scope';

export interface MessageOptions extends OneRunOptions {
  readonly role: readonly string[];
  readonly kind: string;
  readonly text?: string;
  readonly wait?: string;
  readonly agent?: string;
  readonly data?: string;
  readonly messageId?: string;
}

export const runsMessage: Action<MessageOptions> = (options, context) => {
  const { tenant, subject, role, run } = options;
  const message = toMessage(options);
  return withServices(context, async ({ runs }) => {
    const receipt = await runs.message({ tenant, subject, roles: role }, run, message);
    tell(receipt, options, context);
    return 0;
  });
};

const toMessage = ({ kind, text, wait, agent, data, messageId }: MessageOptions): Message => ({
  kind,
  ...(text === undefined ? {} : { text }),
  ...(wait === undefined ? {} : { wait }),
  ...(agent === undefined ? {} : { agent }),
  ...(data === undefined ? {} : { data: readJsonOption('--data', data) }),
  ...(messageId === undefined ? {} : { id: messageId }),
});

const tell = (receipt: MessageReceipt, { run, json }: MessageOptions, { output }: CliContext): void => {
  const { id, kind, planVersion, started, isSignalled } = receipt;
  if (json === true) {
    output.printJson({ run, message: id, kind, planVersion: planVersion ?? null, started: started?.ref.run ?? null });
  } else if (started !== undefined) {
    output.print(started.ref.run);
    output.note(`${run} goes on as it is`);
  } else output.print(`${run}: its plan is now version ${planVersion ?? 0}; what it asked before is void`);
  if (!isSignalled) output.note('the run could not be woken at once: a worker does it');
};
