/** The query of a page's address. A form sends what was left empty as well: that is not chosen. */
import type { z } from 'zod';
import { fromZod } from '../http/problems/problem';

/** Throws a problem that names the first member at fault. */
export const readQuery = <Schema extends z.ZodType>(
  schema: Schema,
  query: Readonly<Record<string, string>>,
): z.output<Schema> => {
  const chosen = Object.fromEntries(Object.entries(query).filter(([, value]) => value.trim() !== ''));
  const parsed = schema.safeParse(chosen);
  if (!parsed.success) throw fromZod(parsed.error, 'query');
  return parsed.data;
};
