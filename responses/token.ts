/**
 * The token of a wait: whoever may answer it is shown it together with the question, and sends it back. It proves that the
 * answer was given to exactly this wait at exactly these versions, and nothing about who gave it.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { WaitRow } from '../store/rows';

export type TokenKey = Uint8Array;

/** The wait with its run, its state version (`seq`) and its plan version. */
export type TokenSubject = Pick<WaitRow, 'ref' | 'id' | 'seq' | 'planVersion'>;

/** HMAC-SHA-256 in base64url, the same on every service that has the key. */
export const makeToken = (key: TokenKey, { ref, id, seq, planVersion }: TokenSubject): string =>
  createHmac('sha256', key)
    // As a JSON list: no two different subjects have one text.
    .update(JSON.stringify([ref.tenant, ref.run, id, seq, planVersion]))
    .digest('base64url');

/** Takes the same time wherever the two differ. */
export const isTokenOf = (key: TokenKey, subject: TokenSubject, given: string): boolean =>
  timingSafeEqual(digest(makeToken(key, subject)), digest(given));

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
