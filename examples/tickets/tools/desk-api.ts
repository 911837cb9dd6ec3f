/** Speaks HTTP with the desk. Whatever goes wrong on the way becomes a ToolError. */
import type { z } from 'zod';
import { ToolError } from '../../../index';
import { toToolError } from './desk-errors';
import { parseJson } from './json';

/** Tickets are small; a body beyond this is no ticket. */
const MAX_BODY_BYTES = 8 * 1024 * 1024;

export interface DeskRequest {
  readonly method?: 'GET' | 'POST';
  readonly body?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

export interface DeskReply {
  readonly status: number;
  readonly text: string;
}

export interface DeskApi {
  /** Resolves for 2xx alone. Throws ToolError: by status and problem code, or UNAVAILABLE where no answer came. */
  send(path: string, request: DeskRequest): Promise<DeskReply>;
}

export const createDeskApi = (deskUrl: string): DeskApi => ({
  send: async (path, request) => {
    const response = await exchange(new URL(path, deskUrl), request);
    if (response.isOk) return response;
    throw toToolError(response);
  },
});

interface Exchanged extends DeskReply {
  readonly isOk: boolean;
  readonly headers: Headers;
}

/** The cause is kept: it tells whether a connection came about at all. */
const exchange = async (url: URL, request: DeskRequest): Promise<Exchanged> => {
  try {
    const response = await fetch(url, toInit(request));
    const text = await readText(response);
    return { isOk: response.ok, status: response.status, headers: response.headers, text };
  } catch (cause) {
    if (cause instanceof ToolError) throw cause;
    throw new ToolError('UNAVAILABLE', 'the desk did not answer', { cause });
  }
};

const toInit = ({ method = 'GET', body, headers = {}, signal }: DeskRequest): RequestInit => ({
  method,
  signal,
  headers: { ...headers, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
  ...(body === undefined ? {} : { body: JSON.stringify(body) }),
});

const readText = async ({ body }: Response): Promise<string> => {
  if (body === null) return '';
  const bytes: AsyncIterable<Uint8Array> = body;
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of bytes) {
    size += chunk.byteLength;
    if (size > MAX_BODY_BYTES) {
      throw new ToolError('TOOL_FAULT', `the desk's answer exceeds ${String(MAX_BODY_BYTES)} bytes`);
    }
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
};

/** Throws TOOL_FAULT: the desk answered 2xx with something else than it documents. */
export const parseReply = <Shape extends z.ZodType>(shape: Shape, { text }: DeskReply): z.output<Shape> => {
  const parsed = shape.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = issue?.path.map(String).join('.') ?? '';
  throw new ToolError('TOOL_FAULT', `the desk's answer is not what it documents: ${field || 'body'}`, { raw: text });
};
