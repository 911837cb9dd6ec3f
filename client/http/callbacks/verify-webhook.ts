/**
 * Whether a callback is from somebody who has the secret: Standard Webhooks (HMAC-SHA256 over `id.timestamp.body`), over the
 * bytes as they arrived. The published library decodes the body first, so that it takes different bytes for the same.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

export interface WebhookHeaders {
  /** As the request has them; a header that came twice is joined with a comma. */
  readonly id: string | undefined;
  readonly timestamp: string | undefined;
  readonly signature: string | undefined;
}

export const WEBHOOK_REFUSALS = [
  'callback.signature_missing',
  'callback.signature_invalid',
  'callback.expired',
] as const;
export type WebhookRefusal = (typeof WEBHOOK_REFUSALS)[number];

export type WebhookVerdict =
  | { readonly kind: 'valid'; readonly id: string }
  /** `id` where the request has one of the right form; whoever sent it may not be who the id belongs to. */
  | { readonly kind: 'refused'; readonly code: WebhookRefusal; readonly id?: string };

export interface Verifier {
  verify(headers: WebhookHeaders, body: Uint8Array, nowMs: number): WebhookVerdict;
}

/** How far the sender's clock may be from ours, either way, and how long a delivery may be replayed. */
export const TOLERANCE_S = 5 * 60;

/** Printable, without blank or comma: a comma joins headers that came twice. */
const ID = /^[!-+\--~]{1,200}$/;
const TIMESTAMP = /^\d{1,11}$/;
const MAX_SIGNATURES = 16;
const MAX_SIGNATURE_LENGTH = 4_096;
const SIGNATURE = /^[a-z0-9]+,[A-Za-z0-9+/]+=*$/;
const VERSION = 'v1,';

/** Each secret is the key itself, decoded. All of them verify: a new one is added before the sender uses it. */
export const createVerifier = (secrets: readonly Uint8Array[]): Verifier => ({
  verify: (headers, body, nowMs) => {
    const { id, timestamp, signature } = headers;
    if (id === undefined || timestamp === undefined || signature === undefined) {
      return refused('callback.signature_missing', id);
    }
    const signatures = signature.length > MAX_SIGNATURE_LENGTH ? [] : signature.split(' ');
    if (!ID.test(id) || !TIMESTAMP.test(timestamp) || !areSignatures(signatures)) {
      return refused('callback.signature_invalid', id);
    }
    const given = signatures.filter((each) => each.startsWith(VERSION)).map((each) => each.slice(VERSION.length));
    const isSigned = secrets.some((secret) => {
      const expected = sign(secret, `${id}.${timestamp}.`, body);
      return given.some((each) => isEqual(each, expected));
    });
    if (!isSigned) return refused('callback.signature_invalid', id);
    const isInTime = Math.abs(Math.floor(nowMs / 1_000) - Number(timestamp)) <= TOLERANCE_S;
    return isInTime ? { kind: 'valid', id } : refused('callback.expired', id);
  },
});

const refused = (code: WebhookRefusal, id: string | undefined): WebhookVerdict => ({
  kind: 'refused',
  code,
  ...(id !== undefined && ID.test(id) ? { id } : {}),
});

const areSignatures = (signatures: readonly string[]): boolean =>
  signatures.length > 0 && signatures.length <= MAX_SIGNATURES && signatures.every((each) => SIGNATURE.test(each));

const sign = (secret: Uint8Array, prefix: string, body: Uint8Array): string =>
  createHmac('sha256', secret).update(prefix).update(body).digest('base64');

/** The length of a signature is no secret; what is compared at all is compared in constant time. */
const isEqual = (given: string, expected: string): boolean => {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
};
