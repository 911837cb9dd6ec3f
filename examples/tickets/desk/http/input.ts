import { type z } from 'zod';
import { parseIfMatch } from '../core/etag';
import type { Precondition } from '../core/model';
import { DeskProblem } from '../core/problem';
import type { DeskContext } from './context';

const MAX_KEY_LENGTH = 255;
const CALLBACK_HOSTS: ReadonlySet<string> = new Set(['127.0.0.1', '[::1]', 'localhost']);

/** The body as JSON that fits the schema; an empty body counts as `{}`. */
export async function readJson<Schema extends z.ZodType>(c: DeskContext, schema: Schema): Promise<z.output<Schema>> {
  const bytes = await c.req.arrayBuffer();
  return parseInput(schema, bytes.byteLength === 0 ? {} : parseJson(c, bytes));
}

export function parseInput<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  const errors = result.error.issues.map(({ path, message }) => ({
    pointer: path.map((part) => `/${String(part)}`).join(''),
    detail: message,
  }));
  const detail = errors.map((error) => `${error.pointer || 'body'}: ${error.detail}`).join('; ');
  throw new DeskProblem({ status: 422, code: 'validation_failed', detail, members: { errors } });
}

export function readKey(c: DeskContext): string | undefined {
  const key = c.req.header('Idempotency-Key');
  if (key !== undefined && (key.length === 0 || key.length > MAX_KEY_LENGTH)) {
    const detail = `Idempotency-Key: expected 1 to ${String(MAX_KEY_LENGTH)} characters, got ${String(key.length)}`;
    throw new DeskProblem({ status: 400, code: 'idempotency_key_malformed', detail });
  }
  return key;
}

export function readIfMatch(c: DeskContext): Precondition | undefined {
  const header = c.req.header('If-Match');
  return header === undefined ? undefined : parseIfMatch(header);
}

/** Where to call back. The desk calls its own machine only, so that nobody can send it to other hosts. */
export function readCallbackUrl(c: DeskContext): string | undefined {
  const header = c.req.header('Callback-Url');
  if (header === undefined) return undefined;
  const url = URL.canParse(header) ? new URL(header) : undefined;
  if (url?.protocol !== 'http:' || !CALLBACK_HOSTS.has(url.hostname)) {
    throw new DeskProblem({
      status: 400,
      code: 'callback_url_refused',
      detail: `Callback-Url: expected http on loopback, got ${header}`,
    });
  }
  return url.href;
}

/** RFC 7240: a list of preferences, each with parameters. */
export function prefersAsync(c: DeskContext): boolean {
  const preferences = c.req.header('Prefer')?.split(',') ?? [];
  return preferences.some((preference) => preference.split(';')[0]?.trim().toLowerCase() === 'respond-async');
}

function parseJson(c: DeskContext, bytes: ArrayBuffer): unknown {
  const type = c.req.header('Content-Type')?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json') {
    const detail = `Content-Type: expected application/json, got ${type ?? 'none'}`;
    throw new DeskProblem({ status: 415, code: 'unsupported_media_type', detail });
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw new DeskProblem({
      status: 400,
      code: 'body_not_json',
      detail: `body: expected UTF-8 JSON, ${String(error)}`,
    });
  }
}
