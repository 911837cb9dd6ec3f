/** What callers give, checked at the edge. */
import type { z } from 'zod';
import { HoldfastError } from './errors';

/** Throws `input.invalid`, naming the first field at fault, its value and what was expected. */
export const parseInput = <Schema extends z.ZodType>(schema: Schema, value: z.input<Schema>): z.output<Schema> => {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = issue?.path ?? [];
  const field = path.map(String).join('.');
  const got = path.reduce<unknown>((at, key) => (isRecord(at) ? at[key] : undefined), value);
  throw new HoldfastError('input.invalid', `${field || 'request'}: got ${show(got)}, ${issue?.message ?? ''}`, {
    field,
  });
};

const isRecord = (value: unknown): value is Record<PropertyKey, unknown> => typeof value === 'object' && value !== null;

const show = (value: unknown): string => (value === undefined ? 'nothing' : JSON.stringify(value).slice(0, 200));
