/** An id as part of a zod schema: what its parser says is wrong becomes an issue of the schema. */
import { z } from 'zod';

export const idBy = <Id>(parse: (value: unknown) => Id): z.ZodType<Id> =>
  z.string().transform((value, context) => {
    try {
      return parse(value);
    } catch (error) {
      context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : 'an id' });
      return z.NEVER;
    }
  });
