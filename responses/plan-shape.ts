/** What a person decides about, as its artifact holds it: a plan of the runtime's, or a question. Older ones are read as well. */
import { z } from 'zod';
import type { Json } from '../workflows/contract/json';

const json: z.ZodType<Json> = z.json();
const optional = z.exactOptional;

export const PLAN = z.object({
  schemaVersion: z.literal(1),
  kind: z.enum(['approval', 'reconciliation', 'acceptance', 'handoff']),
  why: z.string(),
  operations: z.array(
    z.object({
      id: z.string(),
      tool: z.string(),
      arguments: json,
      target: optional(z.string()),
      expectedVersion: optional(z.string()),
      risk: z.string(),
      repeats: optional(z.string()),
    }),
  ),
  isComplete: z.boolean(),
  diagnosis: optional(z.object({ rule: z.string(), steps: z.array(z.number()), what: z.string() })),
  previous: optional(json),
});
export type PlanData = z.output<typeof PLAN>;

export const QUESTION = z.object({
  schemaVersion: z.literal(1),
  question: z.string(),
  askedBy: z.enum(['model', 'runtime']),
  candidates: optional(z.array(z.string())),
});
export type QuestionData = z.output<typeof QUESTION>;
