/** A page of a stored body as text. Offsets are bytes of the body, so that pages of any size fit together. */
import { toWellFormed } from '../context/well-formed';

export interface TextPage {
  readonly fromByte: number;
  /** Where the next page begins; equal to `totalBytes` on the last one. */
  readonly toByte: number;
  readonly totalBytes: number;
  readonly text: string;
}

interface PageRequest {
  readonly fromByte: number;
  readonly maxBytes: number;
}

/** Never begins or ends inside a character; at least one character where any is left. Invalid bytes become U+FFFD. */
export const pageOf = (
  bytes: Uint8Array,
  { fromByte, maxBytes }: PageRequest,
): TextPage & Record<string, string | number> => {
  const totalBytes = bytes.length;
  const from = toBoundary(bytes, Math.min(fromByte, totalBytes));
  const end = Math.min(from + maxBytes, totalBytes);
  const cut = toBoundaryBefore(bytes, end);
  const to = cut > from ? cut : toBoundary(bytes, Math.min(end + 1, totalBytes));
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(from, to));
  return { fromByte: from, toByte: to, totalBytes, text: toWellFormed(text) };
};

/** A character has at most three continuation bytes; where there are more, the body is no UTF-8 and any place will do. */
const MAX_CONTINUATION = 3;

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

const toBoundary = (bytes: Uint8Array, at: number): number => {
  let place = at;
  while (place - at < MAX_CONTINUATION && isContinuation(bytes[place])) place += 1;
  return place;
};

const toBoundaryBefore = (bytes: Uint8Array, at: number): number => {
  if (at >= bytes.length) return at;
  let place = at;
  while (at - place < MAX_CONTINUATION && isContinuation(bytes[place])) place -= 1;
  return isContinuation(bytes[place]) ? at : place;
};
