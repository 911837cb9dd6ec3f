/** Everything that is recorded of a run, for people who want to understand it. */
import { z } from 'zod';
import { WAIT_KINDS } from '../../workflows/machine/states';
import { ARTIFACT_HASH, COUNT, JSON_OBJECT, OPERATION_ID, TIME, WAIT_ID } from './common';
import { RUN } from './run';
import { WAIT_STATES } from './wait';

const USAGE = z.object({
  inputTokens: COUNT,
  outputTokens: COUNT,
  cacheReadTokens: COUNT,
  cacheWriteTokens: COUNT,
  costMicros: COUNT,
  isEstimate: z.boolean(),
});

const ATTEMPT = z.object({
  step: COUNT,
  attempt: COUNT,
  state: z.enum(['OPEN', 'STORED', 'FAILED', 'LOST']),
  context: ARTIFACT_HASH,
  candidate: ARTIFACT_HASH.optional(),
  outcome: JSON_OBJECT.optional(),
  usage: USAGE,
  openedAt: TIME,
  endedAt: TIME.optional(),
});

const DECISION = z.object({
  id: z.string(),
  step: COUNT,
  attempt: COUNT,
  ordinal: COUNT,
  validator: z.string(),
  validatorVersion: z.string(),
  phase: z.enum(['proposal', 'dispatch']),
  try: COUNT,
  verdict: z.enum(['pass', 'fail', 'ask']),
  code: z.string().optional(),
  evidence: JSON_OBJECT,
});

const OPERATION = z.object({
  id: OPERATION_ID,
  step: COUNT,
  ordinal: COUNT,
  call: z.string(),
  tool: z.string(),
  effect: z.enum(['read', 'write']),
  state: z.string(),
  generation: COUNT,
  arguments: ARTIFACT_HASH,
  argumentHash: z.string(),
  target: z.string().optional(),
  expectedVersion: z.string().optional(),
  planVersion: COUNT,
  equivalent: OPERATION_ID.optional(),
  job: z.string().optional(),
  code: z.string().optional(),
  raw: ARTIFACT_HASH.optional(),
  output: ARTIFACT_HASH.optional(),
  failure: ARTIFACT_HASH.optional(),
  evidence: z.string().optional(),
  firstDispatchedAt: TIME.optional(),
  dispatchedAt: TIME.optional(),
  notBeforeAt: TIME.optional(),
  lookUps: COUNT,
  polls: COUNT,
});

const WAIT_OF_RUN = z.object({
  wait: WAIT_ID,
  kind: z.enum(WAIT_KINDS),
  state: z.enum(WAIT_STATES),
  stateVersion: COUNT,
  planVersion: COUNT,
  operation: OPERATION_ID.optional(),
  planHash: ARTIFACT_HASH,
  openedAt: TIME,
  expiresAt: TIME,
  response: JSON_OBJECT.optional(),
  responseId: z.string().optional(),
});

const LEDGER_ENTRY = z.object({
  reference: z.string(),
  kind: z.enum(['step', 'attempt', 'toolCall', 'carried']),
  isOpen: z.boolean(),
  usage: USAGE,
});

export const DETAILS = z
  .object({
    run: RUN,
    budgets: z
      .object({
        maxSteps: z.number(),
        maxTokens: z.number(),
        maxCostMicros: z.number(),
        maxToolCalls: z.number(),
        deadlineMs: z.number(),
      })
      .optional()
      .meta({ description: 'Absent until the run has opened.' }),
    model: z
      .object({ model: z.string(), isScripted: z.boolean().meta({ description: 'The offline model stood in.' }) })
      .optional(),
    attempts: z.array(ATTEMPT),
    decisions: z.array(DECISION),
    operations: z.array(OPERATION),
    waits: z.array(WAIT_OF_RUN),
    ledger: z.array(LEDGER_ENTRY),
  })
  .meta({ id: 'RunDetails' });
export type DetailsView = z.output<typeof DETAILS>;
