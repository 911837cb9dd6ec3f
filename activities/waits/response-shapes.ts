/**
 * What a person may answer, by the kind of the wait. A wait stores its schema; a response that was accepted has been checked
 * against it, and is read here once more since rows outlive releases.
 *
 *   approval        { decision: 'approve' | 'deny', reason? }
 *   question        the fields that the question asks for
 *   acceptance      { accept: true | false, reason? }
 *   reconciliation  { state: 'SUCCEEDED' | 'FAILED' | 'NOT_EXECUTED', why }
 *   handoff         { take: true | false, guidance? }      false gives the run back, with guidance
 */
import { z } from 'zod';
import type { JsonObject } from '../../workflows/contract/json';
import type { WaitKind } from '../../workflows/machine/states';

const MAX_REASON_LENGTH = 2_000;
const MAX_GUIDANCE_LENGTH = 10_000;

const RECONCILED = ['SUCCEEDED', 'FAILED', 'NOT_EXECUTED'] as const;
export type ReconciledState = (typeof RECONCILED)[number];

const reason: JsonObject = { type: 'string', title: 'Reason', maxLength: MAX_REASON_LENGTH };

const objectOf = (properties: JsonObject, required: readonly string[]): JsonObject => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});

/** Within the small part of JSON Schema that definition/response-schema.ts reads. */
export const RESPONSE_SCHEMAS: Readonly<Record<Exclude<WaitKind, 'question'>, JsonObject>> = {
  approval: objectOf({ decision: { type: 'string', enum: ['approve', 'deny'] }, reason }, ['decision']),
  acceptance: objectOf({ accept: { type: 'boolean' }, reason }, ['accept']),
  reconciliation: objectOf(
    {
      state: { type: 'string', enum: [...RECONCILED], title: 'What became of it' },
      why: { type: 'string', title: 'How this was found out', minLength: 1, maxLength: MAX_REASON_LENGTH },
    },
    ['state', 'why'],
  ),
  handoff: objectOf(
    {
      take: { type: 'boolean', title: 'Take the run over' },
      guidance: { type: 'string', title: 'What the agent is to do', maxLength: MAX_GUIDANCE_LENGTH },
    },
    ['take'],
  ),
};

export const approvalResponse = z.object({ decision: z.enum(['approve', 'deny']), reason: z.string().optional() });
export const acceptanceResponse = z.object({ accept: z.boolean(), reason: z.string().optional() });
export const reconciliationResponse = z.object({ state: z.enum(RECONCILED), why: z.string() });
export const handoffResponse = z.object({ take: z.boolean(), guidance: z.string().optional() });
