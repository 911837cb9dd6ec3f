import { types } from 'node:util';
import Anthropic from '@anthropic-ai/sdk';
import type { MessageCreateParamsNonStreaming } from '@anthropic-ai/sdk/resources/messages/messages';
import { startModelServer, type ModelServer, type ModelServerOptions } from '../../../testing/model-server';

/** The real SDK, as the runtime uses it: no retries of its own. */
export function clientOf(server: ModelServer): Anthropic {
  return new Anthropic({ baseURL: server.url, apiKey: 'sk-offline', maxRetries: 0, timeout: 20_000, logLevel: 'off' });
}

export const TOOL = {
  name: 'read_ticket',
  input_schema: { type: 'object', properties: { id: { type: 'string' }, note: { type: 'string' } } },
} as const;

export const PARAMS: MessageCreateParamsNonStreaming = {
  model: 'claude-sonnet-5',
  max_tokens: 1024,
  tools: [{ ...TOOL, input_schema: { ...TOOL.input_schema } }],
  messages: [{ role: 'user', content: 'Read ticket T100.' }],
};

export async function withModelServer(
  options: ModelServerOptions,
  use: (server: ModelServer, client: Anthropic) => Promise<void>,
): Promise<void> {
  const server = await startModelServer(options);
  try {
    await use(server, clientOf(server));
  } finally {
    await server.close();
  }
}

/** What a stream's final message rejects with, reduced to what a caller can branch on. */
export async function failureOf(work: Promise<unknown>) {
  const error: unknown = await work.then(
    (value) => {
      throw new Error(`expected a failure, got ${JSON.stringify(value)}`);
    },
    (reason: unknown) => reason,
  );
  // What fetch throws comes from outside the realm that jest makes, so `instanceof Error` would miss it.
  if (!types.isNativeError(error)) throw new Error(`not an error: ${String(error)}`);
  const name = error.constructor.name;
  if (!(error instanceof Anthropic.APIError)) return { error, name, status: undefined, type: undefined };
  return { error, name, status: parseStatus(error.status), type: error.type };
}

/** The SDK types the status of its base class as `any`. */
function parseStatus(status: unknown): number | undefined {
  return status as number | undefined;
}
