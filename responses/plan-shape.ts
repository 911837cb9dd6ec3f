/** What a person decides about, as its artifact holds it: a plan of the runtime's, or a question. Older ones are read as well. */
import { z } from 'zod';
import { idBy } from '../definition/id-schema';
import { parseOperationId } from '../workflows/contract/ids';
import type { Json } from '../workflows/contract/json';
import type { Plan, Question } from '../workflows/contract/records';

const json: z.ZodType<Json> = z.json();
const operationId = idBy(parseOperationId);
const optional = z.exactOptional;

export const DIAGNOSIS = z.object({
  rule: z.enum(['repeatedCall', 'repeatedError', 'noProgress', 'alternatingPlan']),
  steps: z.array(z.number().int().nonnegative()),
  what: z.string(),
});

export const PLAN: z.ZodType<Plan> = z.object({
  schemaVersion: z.literal(1),
  kind: z.enum(['approval', 'reconciliation', 'acceptance', 'handoff']),
  why: z.string(),
  operations: z.array(
    z.object({
      id: operationId,
      tool: z.string(),
      arguments: json,
      target: optional(z.string()),
      expectedVersion: optional(z.string()),
      risk: z.string(),
      repeats: optional(operationId),
    }),
  ),
  isComplete: z.boolean(),
  diagnosis: optional(DIAGNOSIS),
  previous: optional(json),
});

export const QUESTION: z.ZodType<Question> = z.object({
  schemaVersion: z.literal(1),
  question: z.string(),
  responseSchema: z.record(z.string(), json),
  askedBy: z.enum(['model', 'runtime']),
  candidates: optional(z.array(z.string())),
});
