/** What several of the shapes on the wire are made of. Times are ISO 8601 in UTC, by the database's clock. */
import { z } from 'zod';

// The type is for the OpenAPI document, which cannot follow a schema that contains itself.
export const ANY_JSON = z
  .json()
  .meta({ type: ['object', 'array', 'string', 'number', 'boolean', 'null'], description: 'Any JSON value.' });

export const JSON_OBJECT = z.record(z.string(), ANY_JSON);

export const TIME = z.iso.datetime();

export const RUN_ID = z
  .string()
  .regex(/^run_[A-Za-z0-9-]{6,64}$/, "expected a run id such as 'run_4f3c2a'")
  .meta({ example: 'run_4f3c2a91' });

export const WAIT_ID = z
  .string()
  .regex(/^wait_[A-Za-z0-9-]{6,64}_\d{1,9}_\d{1,9}$/, "expected a wait id such as 'wait_4f3c2a_12_1'")
  .meta({ example: 'wait_4f3c2a91_12_1' });

export const OPERATION_ID = z
  .string()
  .regex(/^op_[A-Za-z0-9-]{6,64}_\d{1,9}_\d{1,9}$/, "expected an operation id such as 'op_4f3c2a_3_1'")
  .meta({ example: 'op_4f3c2a91_3_1' });

export const ARTIFACT_HASH = z
  .string()
  .regex(/^[0-9a-f]{64}$/, 'expected 64 lower-case hex digits')
  .meta({ description: 'SHA-256 of the bytes.' });

/** Ids that callers choose: of responses, messages, idempotency keys. */
export const CALLER_ID = z
  .string()
  .regex(/^[\x21-\x7e]{1,200}$/, 'expected 1 to 200 printable ASCII characters without spaces');

export const AGENT_NAME = z
  .string()
  .min(1)
  .max(100)
  .regex(/^\P{Cc}*$/u, 'expected a name without control characters');

export const COUNT = z.int().nonnegative();

const CURSOR = z
  .string()
  .max(200)
  .regex(/^[A-Za-z0-9_-]*$/, 'expected the cursor of the page before');

export const pageQuery = (defaultLimit: number, maxLimit: number) => ({
  limit: z.coerce.number().int().min(1).max(maxLimit).default(defaultLimit),
  cursor: CURSOR.optional().meta({ description: 'The `cursor` of the page before.' }),
});
