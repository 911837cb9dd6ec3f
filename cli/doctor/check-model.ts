import { z } from 'zod';
import type { Settings } from '../../config/settings';
import { OFFLINE_REQUEST_PREFIX } from '../../workflows/contract/offline-model';
import { SCRIPTED } from '../view/model-line';
import type { Targets } from '../targets';
import { errorText } from '../stack/errors';
import { ok, wrong, type Finding } from './finding';

const PROVIDER_URL = 'https://api.anthropic.com';
const TIMEOUT_MS = 10_000;
const UNAUTHORISED = new Set([401, 403]);

/** Whether the model's address answers and takes the key. Costs nothing: it asks for the list of models. */
export const checkModel = async (settings: Settings, { stack }: Pick<Targets, 'stack'>): Promise<Finding> => {
  const { apiKey, baseUrl = PROVIDER_URL } = settings.model;
  if (stack !== undefined && stack.modelUrl !== null) return checkScripted(stack.modelUrl);
  if (apiKey === undefined) {
    return wrong(
      'model',
      'ANTHROPIC_API_KEY is not set, so no worker can start',
      'set ANTHROPIC_API_KEY; without one only the development stack works, with a scripted model: npx holdfast dev',
    );
  }
  return askForModels(baseUrl, apiKey);
};

/** The offline server has no list of models; its book is there at once, and nobody else has one. */
const checkScripted = async (url: string): Promise<Finding> => {
  const answer = await get(`${url}/_control/book`, {});
  if (answer.kind === 'answered' && answer.status === 200) return ok('model', `${SCRIPTED}, at ${url}`);
  return wrong(
    'model',
    `no answer from the scripted model at ${url}: ${said(answer)}`,
    'restart the development stack',
  );
};

const askForModels = async (baseUrl: string, apiKey: string): Promise<Finding> => {
  const answer = await get(`${baseUrl.replace(/\/$/, '')}/v1/models?limit=1`, {
    'x-api-key': apiKey,
    'anthropic-version': '2023-06-01',
  });
  if (answer.kind === 'failed') {
    const mend = 'mend ANTHROPIC_BASE_URL, or the network or proxy between here and there';
    return wrong('model', `no answer from ${baseUrl}: ${said(answer)}`, mend);
  }
  if (UNAUTHORISED.has(answer.status)) {
    return wrong(
      'model',
      `${baseUrl} refuses the key: ${said(answer)}`,
      'set ANTHROPIC_API_KEY to a key that is valid there',
    );
  }
  if (isScripted(answer.body)) return ok('model', `${SCRIPTED}, at ${baseUrl}`);
  // Others that speak the Messages API need not have a list of models: that they answer is what can be known for nothing.
  return ok('model', `${baseUrl} answers (${said(answer)}), with a key`);
};

interface Answered {
  readonly kind: 'answered';
  readonly status: number;
  readonly body: string;
}
type Answer = Answered | { readonly kind: 'failed'; readonly reason: string };

const get = async (url: string, headers: Readonly<Record<string, string>>): Promise<Answer> => {
  try {
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) });
    return { kind: 'answered', status: response.status, body: await response.text() };
  } catch (error) {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    return { kind: 'failed', reason: errorText(cause) };
  }
};

/** The offline server's refusals carry its own kind of request id. */
const isScripted = (body: string): boolean => {
  try {
    return REFUSAL.safeParse(JSON.parse(body)).success;
  } catch {
    return false; // not JSON: somebody else
  }
};

const REFUSAL = z.object({ request_id: z.string().startsWith(OFFLINE_REQUEST_PREFIX) });

const said = (answer: Answer): string => (answer.kind === 'answered' ? `status ${answer.status}` : answer.reason);
