/** One request to the service, and how its problems become the errors that the client throws. */
import { z } from 'zod';
import { CLIENT_ERROR_CODES, HoldfastError, SERVICE_ERROR_CODES, type HoldfastErrorCode } from '../errors';
import { RESPONSE_REFUSALS } from '../../responses/refusals';

export interface Remote {
  readonly baseUrl: string;
  readonly token: string | (() => string | Promise<string>);
  readonly timeoutMs: number;
}

export interface RemoteRequest {
  readonly path: string;
  readonly method?: 'GET' | 'POST';
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON, by POST. */
  readonly body?: unknown;
  /** In place of the client's own time limit. */
  readonly signal?: AbortSignal;
}

export const askJson = async <Schema extends z.ZodType>(
  remote: Remote,
  schema: Schema,
  request: RemoteRequest,
): Promise<z.output<Schema>> => {
  const response = await ask(remote, request);
  const parsed = schema.safeParse(await readJson(response));
  if (parsed.success) return parsed.data;
  throw new HoldfastError('service.unreachable', `${request.path}: the answer is not that of a Holdfast service`, {
    cause: parsed.error,
  });
};

/** Throws the service's refusal with its code, or `service.unreachable`. */
export const ask = async (remote: Remote, request: RemoteRequest): Promise<Response> => {
  const response = await send(remote, request);
  if (response.ok) return response;
  throw toError(response.status, await readJson(response));
};

const send = async (
  remote: Remote,
  { path, query = {}, headers, body, ...request }: RemoteRequest,
): Promise<Response> => {
  const url = new URL(remote.baseUrl + path);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  const token = typeof remote.token === 'string' ? remote.token : await remote.token();
  const { method = body === undefined ? 'GET' : 'POST', signal = AbortSignal.timeout(remote.timeoutMs) } = request;
  try {
    return await fetch(url, {
      method,
      signal,
      headers: {
        Accept: 'application/json',
        Authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  } catch (cause) {
    throw new HoldfastError('service.unreachable', `${url.origin}: got no answer, expected the service`, { cause });
  }
};

const readJson = async (response: Response): Promise<unknown> => {
  try {
    return await response.json();
  } catch {
    return undefined;
  }
};

const PROBLEM = z.object({ code: z.string(), detail: z.string(), field: z.string().optional() });

const CODES: ReadonlySet<string> = new Set([...CLIENT_ERROR_CODES, ...SERVICE_ERROR_CODES, ...RESPONSE_REFUSALS]);

const isKnown = (code: string): code is HoldfastErrorCode => CODES.has(code);

const toError = (status: number, body: unknown): HoldfastError => {
  const problem = PROBLEM.safeParse(body);
  if (!problem.success || !isKnown(problem.data.code)) {
    return new HoldfastError('service.unreachable', `got ${status} without a problem that is known here`);
  }
  const { code, detail, field } = problem.data;
  return new HoldfastError(code, detail, field === undefined ? {} : { field });
};
