/** The client that speaks to `holdfast serve`: the same calls, answers and error codes as the one on the store itself. */
import { HoldfastError } from '../errors';
import type { ArtifactPart, HoldfastClient } from '../holdfast-client';
import { MESSAGE_RECEIPT, RESOLUTION } from '../schemas/change';
import { DETAILS } from '../schemas/details';
import { EVENT_PAGE } from '../schemas/event';
import { RESULT } from '../schemas/result';
import { RUN, RUN_PAGE } from '../schemas/run';
import { SUMMARY } from '../schemas/summary';
import { RECEIPT, WAIT, WAIT_PAGE } from '../schemas/wait';
import { followRemote } from './follow';
import { ask, askJson, type Remote } from './request';

export interface HttpClientOptions {
  /** Of the service, without a path: `https://holdfast.example`. */
  readonly baseUrl: string;
  /** A bearer token, or what gets a fresh one: asked before every request. */
  readonly token: string | (() => string | Promise<string>);
  /** How long a request may take. Default 30 s. */
  readonly timeoutMs?: number;
}

export const createHttpClient = (options: HttpClientOptions): HoldfastClient => {
  const remote: Remote = { timeoutMs: 30_000, ...options, baseUrl: options.baseUrl.replace(/\/+$/, '') };
  const of = (run: string): string => `/v1/runs/${encodeURIComponent(run)}`;
  return {
    start: (request, { idempotencyKey } = {}) =>
      askJson(remote, RUN, {
        path: '/v1/runs',
        body: request,
        ...(idempotencyKey === undefined ? {} : { headers: { 'Idempotency-Key': idempotencyKey } }),
      }),
    snapshot: (run) => askJson(remote, RUN, { path: of(run) }),
    details: (run) => askJson(remote, DETAILS, { path: `${of(run)}/details` }),
    list: (query = {}) => askJson(remote, RUN_PAGE, { path: '/v1/runs', query }),
    events: (run, query = {}) => askJson(remote, EVENT_PAGE, { path: `${of(run)}/events`, query }),
    follow: (run, follow = {}) => followRemote(remote, `${of(run)}/events`, follow),
    result: async (run) => {
      const response = await ask(remote, { path: `${of(run)}/result` });
      return response.status === 202 ? undefined : RESULT.parse(await response.json());
    },
    artifact: async (run, hash, part = {}) => {
      const path = `${of(run)}/artifacts/${encodeURIComponent(hash)}`;
      return toPart(await ask(remote, { path, headers: { Range: toRange(part) } }));
    },
    waits: (query = {}) => askJson(remote, WAIT_PAGE, { path: '/v1/waits', query }),
    wait: (wait) => askJson(remote, WAIT, { path: `/v1/waits/${encodeURIComponent(wait)}` }),
    respond: (run, body) => askJson(remote, RECEIPT, { path: `${of(run)}/responses`, body }),
    message: (run, body) => askJson(remote, MESSAGE_RECEIPT, { path: `${of(run)}/messages`, body }),
    cancel: async (run) => {
      await askJson(remote, RUN, { path: `${of(run)}/cancel`, method: 'POST' });
    },
    resolve: (run, body) => askJson(remote, RESOLUTION, { path: `${of(run)}/resolutions`, body }),
    reopen: (run, body = {}) => askJson(remote, RUN, { path: `${of(run)}/reopen`, body }),
    summary: (query = {}) => askJson(remote, SUMMARY, { path: '/v1/metrics/summary', query }),
  };
};

const toRange = ({ offset = 0, limit }: { readonly offset?: number; readonly limit?: number }): string =>
  `bytes=${offset}-${limit === undefined ? '' : offset + limit - 1}`;

const SIZE = /\/(\d+)$/;

const toPart = async (response: Response): Promise<ArtifactPart> => {
  const [, size] = SIZE.exec(response.headers.get('Content-Range') ?? '') ?? [];
  if (size === undefined) throw new HoldfastError('service.unreachable', 'artifact: the answer does not tell its size');
  return {
    bytes: new Uint8Array(await response.arrayBuffer()),
    mediaType: response.headers.get('Content-Type') ?? 'application/octet-stream',
    sizeBytes: Number(size),
  };
};
