import type { BodyContent } from '../core/faults';
import type { Reply } from '../core/model';

export function toResponse({ status, headers, body }: Reply): Response {
  return new Response(JSON.stringify(body), { status, headers: { 'Content-Type': 'application/json', ...headers } });
}

export const ok = (body: unknown, headers: Readonly<Record<string, string>> = {}): Reply => ({
  status: 200,
  headers,
  body,
});

export function bytesOf(content: BodyContent): Uint8Array<ArrayBuffer> {
  if ('fillBytes' in content) return new Uint8Array(content.fillBytes).fill('x'.charCodeAt(0));
  return Uint8Array.from('text' in content ? Buffer.from(content.text) : Buffer.from(content.base64, 'base64'));
}
