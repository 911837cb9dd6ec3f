/** A part of an artifact as text. No character is cut: each belongs to the part in which it begins. */
import type { HoldfastClient } from '../../holdfast-client';

export interface TextPart {
  /** Undefined where it is no text. */
  readonly text: string | undefined;
  readonly mediaType: string;
  readonly sizeBytes: number;
  readonly from: number;
  readonly to: number;
  readonly previous?: number;
  readonly next?: number;
}

export const PART_BYTES = 32_768;
/** A character has at most four bytes. */
const MAX_TAIL_BYTES = 3;

export const readTextPart = async (
  client: Pick<HoldfastClient, 'artifact'>,
  { run, hash, offset }: { readonly run: string; readonly hash: string; readonly offset: number },
): Promise<TextPart> => {
  const limit = PART_BYTES + MAX_TAIL_BYTES;
  const { bytes, mediaType, sizeBytes } = await client.artifact(run, hash, { offset, limit });
  const start = skipTail(bytes, 0);
  const end = Math.min(
    bytes.byteLength,
    bytes.byteLength <= PART_BYTES ? bytes.byteLength : skipTail(bytes, PART_BYTES),
  );
  const text = decode(bytes.subarray(start, end));
  const isWhole = offset === 0 && end === sizeBytes;
  return {
    text: isWhole && text !== undefined && mediaType.includes('json') ? indent(text) : text,
    mediaType,
    sizeBytes,
    from: offset + start,
    to: offset + end,
    ...(offset > 0 ? { previous: Math.max(0, offset - PART_BYTES) } : {}),
    ...(offset + PART_BYTES < sizeBytes ? { next: offset + PART_BYTES } : {}),
  };
};

/** Behind the bytes that go on with a character from before. */
const skipTail = (bytes: Uint8Array, at: number): number => {
  let index = at;
  while (index < bytes.byteLength && index < at + MAX_TAIL_BYTES && ((bytes[index] ?? 0) & 0xc0) === 0x80) index += 1;
  return index;
};

const decode = (bytes: Uint8Array): string | undefined => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
};

const indent = (json: string): string => {
  try {
    return JSON.stringify(JSON.parse(json), undefined, 2);
  } catch {
    return json;
  }
};
