/** An argument that names an object: it has to appear in a fact or in the run's own input, or the call is refused. */
import { z } from 'zod';

const REF_KIND = 'holdfastRef';

/** `ref('ticket')` accepts `"T100"` only where the object `ticket:T100` is known to the run. */
export const ref = (kind: string, schema: z.ZodString = z.string().min(1).max(200)): z.ZodString =>
  schema.meta({ [REF_KIND]: kind });

/** The kind of object that this very schema names; wrappers around it (`.optional()`) name none themselves. */
export const refKindOf = (schema: z.core.$ZodType): string | undefined => {
  const kind = z.globalRegistry.get(schema)?.[REF_KIND];
  return typeof kind === 'string' ? kind : undefined;
};
