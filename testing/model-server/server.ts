import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { finished } from 'node:stream/promises';
import { answerRequest } from './answer-request';
import { errorBody } from './api-error';
import type { BookEntry } from './book';
import { control } from './control';
import type { FaultRuleInput } from './faults/fault';
import type { RequestRecord } from './request-log';
import type { Script } from './script';
import { createState, resetState, type ServerState } from './server-state';
import { DEFAULT_LIMITS, type RequestLimits } from './validate-request/limits';

export interface ModelServerOptions {
  readonly script: Script;
  /** 0, the default, takes a free one. */
  readonly port?: number;
  readonly faults?: readonly FaultRuleInput[];
  readonly limits?: Partial<RequestLimits>;
  /** By default every answered request has its row; false keeps none. */
  readonly keepBook?: boolean;
  /** Requests that are kept with their bodies, the latest ones; 1,000 by default. */
  readonly keptRequests?: number;
}

export interface ModelServer {
  /** Base URL for the SDK, without a trailing slash. */
  readonly url: string;
  readonly book: readonly BookEntry[];
  readonly requests: readonly RequestRecord[];
  /** What the script threw: a test that passes in spite of it has proved nothing. */
  readonly scriptFailures: readonly Error[];
  readonly addFault: (rule: FaultRuleInput) => void;
  /** Resolves once so many requests have been received. */
  readonly whenReceived: (count: number) => Promise<void>;
  /** Resolves once the condition holds; it is tested whenever a request is received or ends. */
  readonly when: (condition: (requests: readonly RequestRecord[]) => boolean) => Promise<void>;
  readonly reset: () => void;
  /** Drops every open connection. */
  readonly close: () => Promise<void>;
}

const HOST = '127.0.0.1';
const DEFAULT_KEPT_REQUESTS = 1_000;
const KEEP_ALIVE_MS = 60_000;

/**
 * The provider's Messages API on loopback, with a script in the model's place. It is plain `node:http`: most of what it
 * does on purpose (no headers at all, half an event, a destroyed socket) is what a framework exists to prevent.
 */
export async function startModelServer(options: ModelServerOptions): Promise<ModelServer> {
  const { script, keepBook = true, keptRequests = DEFAULT_KEPT_REQUESTS } = options;
  const state = createState({ script, limits: { ...DEFAULT_LIMITS, ...options.limits }, keepBook, keptRequests });
  options.faults?.forEach((rule) => {
    state.faults.add(rule);
  });
  const closing = new AbortController();
  const server = createServer((message, response) => {
    handle(state, { message, response, closing: closing.signal }).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : new Error(String(error)));
    });
  });
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  const port = await listen(server, options.port ?? 0);
  return toModelServer(state, `http://${HOST}:${port}`, async () => {
    closing.abort();
    await close(server);
  });
}

function toModelServer(state: ServerState, url: string, stop: () => Promise<void>): ModelServer {
  return {
    url,
    get book() {
      return state.book.entries;
    },
    get requests() {
      return state.log.records;
    },
    get scriptFailures() {
      return [...state.scriptFailures];
    },
    addFault: (rule) => {
      state.faults.add(rule);
    },
    whenReceived: (count) => state.log.until(() => state.log.received >= count),
    when: (condition) => state.log.until(() => condition(state.log.records)),
    reset: () => {
      resetState(state);
    },
    close: stop,
  };
}

interface Handling {
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  readonly closing: AbortSignal;
}

async function handle(state: ServerState, { message, response, closing }: Handling): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => {
    gone.abort();
  });
  const body = await readBody(message, state.limits.maxBodyBytes);
  const endpoint = `${message.method ?? ''} ${new URL(message.url ?? '/', 'http://offline').pathname}`;
  if (endpoint === 'POST /v1/messages') {
    await answerRequest(state, message, { response, body, gone: AbortSignal.any([gone.signal, closing]) });
    return;
  }
  const reply = control(state, endpoint, body) ?? notFound(state, endpoint);
  response.writeHead(reply.status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(reply.body));
}

function notFound(state: ServerState, endpoint: string) {
  return { status: 404, body: errorBody('not_found_error', `Not found: ${endpoint}`, state.ids.next('req')) };
}

/** Keeps enough to see that it is too much; the rest is drained, so that the client can read the refusal. */
async function readBody(message: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  message.on('data', (chunk: Buffer) => {
    if (size <= maxBytes) chunks.push(chunk);
    size += chunk.length;
  });
  await finished(message, { writable: false });
  return Buffer.concat(chunks);
}

async function listen(server: Server, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, HOST, resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no TCP address');
  return address.port;
}

async function close(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => {
      resolve();
    });
    server.closeAllConnections();
  });
}
