/** Requests to one address, so many at a time, on connections that are kept. Plain `node:http`: it takes the least of the CPU. */
import { Agent, request } from 'node:http';

export interface LoadRequest {
  readonly path: string;
  readonly token?: string;
  /** Sent as JSON, by POST. */
  readonly body?: object;
}

export interface LoadOptions {
  readonly baseUrl: string;
  readonly concurrency: number;
}

export interface Load {
  readonly wallMs: number;
  /** From the request to the end of its answer, one for each. */
  readonly latenciesMs: readonly number[];
}

/** Throws where an answer is not of the 2xx. */
export const runLoad = async (
  { baseUrl, concurrency }: LoadOptions,
  requests: readonly LoadRequest[],
): Promise<Load> => {
  const agent = new Agent({ keepAlive: true, maxSockets: concurrency });
  const latenciesMs: number[] = [];
  const left = [...requests].reverse();
  const work = async (): Promise<void> => {
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      const sentAt = performance.now();
      await send(new URL(next.path, baseUrl), agent, next);
      latenciesMs.push(performance.now() - sentAt);
    }
  };
  const startedAt = performance.now();
  try {
    await Promise.all(Array.from({ length: concurrency }, work));
  } finally {
    agent.destroy();
  }
  return { wallMs: performance.now() - startedAt, latenciesMs };
};

const send = (url: URL, agent: Agent, { token, body }: LoadRequest): Promise<void> =>
  new Promise((resolve, reject) => {
    const sent = request(url, {
      agent,
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      },
    });
    sent.once('error', reject);
    sent.once('response', (response) => {
      const { statusCode = 0 } = response;
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text += part));
      response.once('error', reject);
      response.once('end', () => {
        if (statusCode >= 200 && statusCode < 300) resolve();
        else reject(new Error(`${url.pathname}: got ${String(statusCode)}: ${text.slice(0, 300)}`));
      });
    });
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
