/** RFC 9457 problems: how whatever is thrown becomes the one shape in which the service says no. */
import { randomUUID } from 'node:crypto';
import { HTTPException } from 'hono/http-exception';
import { z } from 'zod';
import { isProblemCode, PROBLEMS, type ProblemCode } from './catalogue';

export const PROBLEM = z
  .looseObject({
    type: z.string().meta({ description: '`urn:holdfast:problem:` and the code.' }),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    code: z.string().meta({ description: 'Stable; docs/problems.md lists every one.' }),
    instance: z.string().meta({ description: 'Of this answer; the log names it.' }),
    field: z.string().optional().meta({ description: 'Where one value is at fault.' }),
    errors: z.array(z.object({ field: z.string(), message: z.string() })).optional(),
  })
  .meta({ id: 'Problem' });
export type Problem = z.output<typeof PROBLEM>;

export interface ProblemDetails {
  readonly field?: string;
  readonly errors?: readonly { readonly field: string; readonly message: string }[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** Thrown by the service's own code. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
  constructor(
    readonly code: ProblemCode,
    detail: string,
    readonly details: ProblemDetails = {},
  ) {
    super(detail, details.cause === undefined ? undefined : { cause: details.cause });
  }
}

const RETRY_AFTER_SECONDS = 5;

/** Whatever was thrown. What nobody foresaw is `internal`, and says nothing of itself. */
export const toProblemError = (error: unknown): ProblemError => {
  if (error instanceof ProblemError) return error;
  if (error instanceof HTTPException) return fromHono(error);
  const { code, message, field } = parseThrown(error);
  if (code === 'id.invalid') return new ProblemError('input.invalid', message, field);
  if (code !== undefined && isProblemCode(code)) return new ProblemError(code, message, { ...field, cause: error });
  return new ProblemError('internal', 'the service failed; its log says why', { cause: error });
};

const fromHono = (error: HTTPException): ProblemError => {
  const { cause, message } = error;
  switch (error.status) {
    case 413:
      return new ProblemError('request.too_large', 'body: got more than is accepted', { cause });
    case 415:
      return new ProblemError('request.media_type', 'Content-Type: got another one, expected application/json');
    case 504:
      return new ProblemError('request.timeout', 'the request was given up: it took too long');
    case 400:
      return new ProblemError('request.malformed', 'body: got text that is not JSON, expected one JSON document');
    default:
      return new ProblemError('internal', 'the service failed; its log says why', { cause: cause ?? message });
  }
};

interface Thrown {
  readonly code?: string;
  readonly message: string;
  readonly field?: { readonly field: string };
}

/** By its stable code: an error of another realm, or of a library, is none of these classes. */
const parseThrown = (error: unknown): Thrown => {
  if (typeof error !== 'object' || error === null) return { message: '' };
  const { code, message, field, details } = error as Readonly<Record<string, unknown>>;
  const ofDetails = typeof details === 'object' && details !== null && 'field' in details ? details.field : undefined;
  const name = [field, ofDetails].find((each): each is string => typeof each === 'string' && each !== '');
  return {
    message: typeof message === 'string' ? message : '',
    ...(typeof code === 'string' ? { code } : {}),
    ...(name === undefined ? {} : { field: { field: name } }),
  };
};

/** The body of the answer, and a fresh id for it. */
export const toProblem = ({ code, message, details }: ProblemError): Problem => {
  const { status, title } = PROBLEMS[code];
  return {
    type: `urn:holdfast:problem:${code}`,
    title,
    status,
    detail: message,
    code,
    instance: `urn:uuid:${randomUUID()}`,
    ...(details.field === undefined ? {} : { field: details.field }),
    ...(details.errors === undefined ? {} : { errors: [...details.errors] }),
  };
};

export const toProblemResponse = (error: ProblemError, problem: Problem): Response => {
  const headers = new Headers({ 'Content-Type': 'application/problem+json', ...error.details.headers });
  if (problem.status === 503 && !headers.has('Retry-After')) headers.set('Retry-After', String(RETRY_AFTER_SECONDS));
  if (problem.status === 401) headers.set('WWW-Authenticate', challenge(error.code));
  return new Response(JSON.stringify(problem), { status: problem.status, headers });
};

const challenge = (code: ProblemCode): string =>
  code === 'auth.missing' ? 'Bearer' : `Bearer error="invalid_token", error_description="${PROBLEMS[code].title}"`;

/** Of a request that its schema refuses. */
export const fromZod = (error: z.core.$ZodError, place: string): ProblemError => {
  const errors = error.issues.slice(0, 20).map((issue) => ({ field: fieldOf(issue, place), message: issue.message }));
  const [first] = errors;
  const detail = first === undefined ? 'the request is not valid' : `${first.field}: ${first.message}`;
  return new ProblemError('request.invalid', detail, {
    errors,
    ...(first === undefined ? {} : { field: first.field }),
  });
};

const fieldOf = (issue: z.core.$ZodIssue, place: string): string => {
  const unknown = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
  return [...issue.path, ...unknown].map(String).join('.').slice(0, 200) || place;
};
