/** What is sent to a run without having been asked, and to one that has ended. */
import { z } from 'zod';
import { AGENT_NAME, CALLER_ID, COUNT, JSON_OBJECT, RUN_ID } from './common';
import { RESULT } from './result';

export const MESSAGE = z
  .strictObject({
    id: CALLER_ID.optional().meta({ description: "The sender's own: sent again it is the same message." }),
    kind: z.string().max(100).meta({
      description:
        '`amend` changes the plan, `withdraw` takes back what an open wait asks about, `new_goal` starts a linked run.',
    }),
    text: z.string().max(20_000).optional(),
    wait: z.string().max(200).optional().meta({ description: 'What `withdraw` takes back.' }),
    agent: AGENT_NAME.optional().meta({ description: "For `new_goal`: another than the run's." }),
    data: JSON_OBJECT.optional().meta({ description: "For `new_goal`: the task's data." }),
  })
  .meta({ id: 'Message' });
export type MessageRequest = z.input<typeof MESSAGE>;

export const MESSAGE_RECEIPT = z
  .object({
    id: z.string(),
    kind: z.enum(['amend', 'withdraw', 'new_goal']),
    planVersion: COUNT.optional().meta({ description: 'Of this run from now on; not for `new_goal`.' }),
    started: RUN_ID.optional().meta({ description: 'The run that `new_goal` has started.' }),
    isSignalled: z.boolean().meta({ description: 'False: the run is woken by a relay, a little later.' }),
  })
  .meta({ id: 'MessageReceipt' });
export type MessageReceiptView = z.output<typeof MESSAGE_RECEIPT>;

export const RESOLUTION = z
  .object({ id: z.string(), result: RESULT.meta({ description: 'Its newest version, which holds the resolution.' }) })
  .meta({ id: 'ResolutionReceipt' });
export type ResolutionView = z.output<typeof RESOLUTION>;
