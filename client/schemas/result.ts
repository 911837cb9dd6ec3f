/** The result of a run that has ended, at its latest version. */
import { z } from 'zod';
import { TERMINALS } from '../../workflows/machine/states';
import { ANY_JSON, COUNT, JSON_OBJECT, OPERATION_ID, RUN_ID } from './common';
import { RUN_STATES, TOTALS } from './run';

const CLAIM = z.object({
  text: z.string(),
  evidence: z.array(z.string()),
  asserts: z.array(z.object({ object: z.string(), field: z.string(), value: ANY_JSON })).optional(),
});

const OPERATION = z.object({
  id: OPERATION_ID,
  tool: z.string(),
  effect: z.enum(['read', 'write']),
  state: z.string(),
  generation: COUNT,
  step: COUNT,
  ordinal: COUNT,
  target: z.string().optional(),
  code: z.string().optional(),
  evidence: z.string().optional(),
});

export const RESULT = z
  .looseObject({
    schemaVersion: z.int(),
    version: z.int().positive().meta({ description: 'A resolution writes the next one.' }),
    run: RUN_ID,
    terminal: z.enum(TERMINALS),
    reason: z.string(),
    answer: z.string(),
    claims: z.array(CLAIM),
    operations: z.array(OPERATION),
    ledger: TOTALS,
    warnings: z.array(z.string()),
    diagnosis: JSON_OBJECT.optional(),
  })
  .meta({ id: 'Result' });
export type ResultView = z.output<typeof RESULT>;

export const NOT_ENDED = z.object({ run: RUN_ID, state: z.enum(RUN_STATES) }).meta({ id: 'NotEnded' });
