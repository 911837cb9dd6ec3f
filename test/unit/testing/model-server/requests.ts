/** Requests and their parts, and the verdict on them, for the tables of the request rules. */
import type { IncomingHttpHeaders } from 'node:http';
import { ApiError } from '../../../../testing/model-server/api-error';
import { SentBlocks } from '../../../../testing/model-server/sent-blocks';
import { DEFAULT_LIMITS, type RequestLimits } from '../../../../testing/model-server/validate-request/limits';
import { validateRequest } from '../../../../testing/model-server/validate-request/validate-request';

export const HEADERS = {
  'x-api-key': 'sk-offline',
  'anthropic-version': '2026-10-21',
  'content-type': 'application/json',
};
export const USER = { role: 'user', content: 'Read ticket T100.' };
export const TOOL = { name: 'read_ticket', input_schema: { type: 'object', properties: { id: { type: 'string' } } } };

export const request = (fields: object = {}): Record<string, unknown> => ({
  model: 'claude-sonnet-5',
  max_tokens: 1024,
  messages: [USER],
  ...fields,
});
export const conversation = (...messages: readonly object[]) =>
  request({ messages: [USER, ...messages], tools: [TOOL] });
export const assistant = (...content: readonly object[]) => ({ role: 'assistant', content });
export const user = (...content: readonly object[]) => ({ role: 'user', content });
export const text = (content: string) => ({ type: 'text', text: content });
export const use = (id: string) => ({ type: 'tool_use', id, name: 'read_ticket', input: { id: 'T100' } });
export const result = (id: string, fields: object = {}) => ({
  type: 'tool_result',
  tool_use_id: id,
  content: 'ok',
  ...fields,
});
export const withTool = (fields: object) => request({ tools: [{ ...TOOL, ...fields }] });
export const withSchema = (schema: object) => withTool({ input_schema: schema });

interface Setting {
  readonly headers?: IncomingHttpHeaders;
  readonly limits?: Partial<RequestLimits>;
  readonly sent?: SentBlocks;
}

export function judge(body: unknown, { headers = HEADERS, limits = {}, sent = new SentBlocks() }: Setting = {}) {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  try {
    validateRequest({ headers, body: bytes }, { ...DEFAULT_LIMITS, ...limits }, sent);
    return 'accepted';
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { status: error.status, type: error.errorType, message: error.message };
  }
}

export const refused = (message: unknown) => ({ status: 400, type: 'invalid_request_error', message });
