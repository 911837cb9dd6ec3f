/** A pending question, approval, acceptance, reconciliation or hand-off, and what is said to it. */
import { z } from 'zod';
import { WAIT_KINDS } from '../../workflows/machine/states';
import {
  ANY_JSON,
  ARTIFACT_HASH,
  CALLER_ID,
  COUNT,
  JSON_OBJECT,
  OPERATION_ID,
  RUN_ID,
  TIME,
  WAIT_ID,
  pageQuery,
} from './common';

export const WAIT_STATES = ['OPEN', 'CONSUMED', 'EXPIRED', 'VOID'] as const;

const SHARED = {
  wait: WAIT_ID,
  run: RUN_ID,
  kind: z.enum(WAIT_KINDS),
  state: z.enum(WAIT_STATES),
  stateVersion: COUNT.meta({ description: 'A response names it, with the plan version.' }),
  planVersion: COUNT,
  operation: OPERATION_ID.optional(),
  about: z
    .object({ tool: z.string(), target: z.string().optional(), risk: z.string().optional() })
    .optional()
    .meta({ description: 'What the operation is; `GET /v1/waits/{wait}` has all of it.' }),
  reason: z.string().optional(),
  openedAt: TIME,
  expiresAt: TIME,
  agent: z.string(),
  goal: z.string(),
  requester: z.string().meta({ description: 'Who asked for the run.' }),
};

export const LISTED_WAIT = z.object(SHARED).meta({ id: 'ListedWait' });
export type ListedWaitView = z.output<typeof LISTED_WAIT>;

const SHOWN_PLAN = z.object({
  kind: z.literal('plan'),
  why: z.string(),
  operations: z.array(
    z.object({
      operation: z.string(),
      tool: z.string(),
      risk: z.string(),
      target: z.string().optional(),
      expectedVersion: z.string().optional(),
      repeats: z.string().optional().meta({ description: 'An operation that did, or may have done, the same.' }),
      arguments: ANY_JSON.meta({ description: 'Invisible characters are made visible; null where too large.' }),
      argumentsJson: z.string().meta({ description: 'The same with every character kept, the invisible escaped.' }),
      bytes: COUNT,
      isComplete: z.boolean(),
    }),
  ),
  isComplete: z.boolean().meta({ description: 'False: not all of it is shown here; `planHash` is the whole.' }),
  diagnosis: z.object({ rule: z.string(), steps: z.array(z.number()), what: z.string() }).optional(),
  previous: ANY_JSON.optional().meta({ description: 'What was approved before, where the terms have changed.' }),
});

const SHOWN_QUESTION = z.object({
  kind: z.literal('question'),
  question: z.string(),
  askedBy: z.enum(['model', 'runtime']),
  candidates: z.array(z.string()).optional(),
  isComplete: z.boolean(),
});

const JUDGED_RESPONSE = z.object({
  id: z.string(),
  subject: z.string(),
  receivedAt: TIME,
  verdict: z.string().meta({ description: '`accepted`, or the code of the refusal.' }),
  message: z.string().optional(),
});

export const WAIT = z
  .object({
    ...SHARED,
    remainingMs: COUNT.meta({ description: "Until it expires, by the database's clock, when this was read." }),
    planHash: ARTIFACT_HASH,
    plan: z.discriminatedUnion('kind', [SHOWN_PLAN, SHOWN_QUESTION]),
    responseSchema: JSON_OBJECT.meta({ description: 'JSON Schema of what a response may hold.' }),
    argumentSchema: JSON_OBJECT.optional().meta({ description: 'Of the arguments that an approval may bring.' }),
    mayRespond: z.boolean().meta({ description: 'Whether the policy lets this reader answer, and it is still asked.' }),
    token: z.string().optional().meta({ description: 'For readers who may respond: a response has to bring it.' }),
    response: ANY_JSON.optional().meta({ description: 'What was accepted.' }),
    responses: z.array(JUDGED_RESPONSE),
  })
  .meta({ id: 'Wait' });
export type WaitView = z.output<typeof WAIT>;

export const WAIT_QUERY = z.object({
  state: z.enum(WAIT_STATES).default('OPEN'),
  kind: z.enum(WAIT_KINDS).optional(),
  run: RUN_ID.optional(),
  ...pageQuery(50, 200),
});
export type WaitQuery = Partial<z.output<typeof WAIT_QUERY>>;

export const WAIT_PAGE = z
  .object({ waits: z.array(LISTED_WAIT), cursor: z.string().optional() })
  .meta({ id: 'WaitPage' });
export type WaitPage = z.output<typeof WAIT_PAGE>;

export const RESPONSE = z
  .strictObject({
    wait: WAIT_ID,
    id: CALLER_ID.optional().meta({
      description: "The sender's own: sent again it is the same response and gets the same verdict.",
    }),
    response: ANY_JSON.meta({ description: "By the wait's `responseSchema`." }),
    stateVersion: COUNT.optional(),
    planVersion: COUNT.optional(),
    token: z.string().max(200).optional(),
  })
  .meta({ id: 'Response' });
export type ResponseRequest = z.input<typeof RESPONSE>;

export const RECEIPT = z
  .object({
    id: z.string(),
    wait: WAIT_ID,
    receivedAt: TIME.meta({ description: "By the database's clock." }),
    isRepeated: z.boolean().meta({ description: 'It had been accepted before; nothing happened twice.' }),
    isSignalled: z.boolean().meta({ description: 'False: the run is woken by a relay, a little later.' }),
  })
  .meta({ id: 'Receipt' });
export type ReceiptView = z.output<typeof RECEIPT>;
