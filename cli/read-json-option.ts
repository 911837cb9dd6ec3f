/** `--data JSON` or `--data @file`: an object, checked at the edge. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { UsageError } from './errors';

const OBJECT: z.ZodType<Record<string, z.core.util.JSONType>> = z.record(z.string(), z.json());
export type JsonOption = z.output<typeof OBJECT>;

/** Throws UsageError naming the option, what it got and what was expected. */
export const readJsonOption = (option: string, given: string): JsonOption => {
  const { text, source } = given.startsWith('@') ? readFile(option, given.slice(1)) : { text: given, source: given };
  const parsed = OBJECT.safeParse(parseJson(option, text, source));
  if (parsed.success) return parsed.data;
  throw new UsageError(`${option}: got ${shorten(source)}, expected a JSON object such as '{"ticket":"T100"}'`);
};

const readFile = (option: string, path: string): { readonly text: string; readonly source: string } => {
  try {
    return { text: readFileSync(path, 'utf8'), source: `@${path}` };
  } catch (cause) {
    throw new UsageError(`${option}: got @${path}, expected a file that can be read`, { cause });
  }
};

const parseJson = (option: string, text: string, source: string): unknown => {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch (cause) {
    throw new UsageError(`${option}: got ${shorten(source)}, expected JSON or @file`, { cause });
  }
};

const shorten = (text: string): string => (text.length > 100 ? `${text.slice(0, 99)}…` : text);
