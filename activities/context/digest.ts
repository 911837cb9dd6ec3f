/**
 * What the model is shown of a result that is too large: its beginning, its end, and what stands around the words that the
 * open gaps are about. A pure function of the bytes and the words: the same on every worker.
 */
import { takeEnd, takeStart, toWellFormed } from './well-formed';

interface DigestBase {
  readonly schemaVersion: 1;
  /** Of the whole result. */
  readonly bytes: number;
  readonly lines: number;
}

/** Stored when a context is frozen, so that the result itself is not read again. */
export type ResultDigest = DigestBase &
  (
    | {
        readonly kind: 'excerpt';
        readonly head: string;
        readonly tail: string;
        /** In the order of the text; `atByte` is where reading on would begin. */
        readonly matches: readonly DigestMatch[];
      }
    /** What the tool itself makes of it. */
    | { readonly kind: 'own'; readonly text: string }
  );

export interface DigestMatch {
  readonly atByte: number;
  readonly text: string;
}

export interface DigestOptions {
  /** Its texts together take no more bytes than this as JSON. */
  readonly limitBytes: number;
  /** Words to look for, most wanted first. */
  readonly words: readonly string[];
}

const MAX_MATCHES = 20;
/** Around a match: its line, but no more than this to either side. */
const MATCH_MARGIN = 80;
const MAX_SPAN_LENGTH = 500;
const MAX_WORD_LENGTH = 100;
const MAX_WORDS = 16;
const MAX_SPANS_PER_WORD = 5;

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Invalid UTF-8, lone surrogates and NUL become U+FFFD; a byte order mark stays what it is. */
export const decodeText = (bytes: Uint8Array): string => toWellFormed(decoder.decode(bytes));

export const digestText = (text: string, { limitBytes, words }: DigestOptions): ResultDigest =>
  clipDigest(
    {
      schemaVersion: 1,
      kind: 'excerpt',
      bytes: Buffer.byteLength(text),
      lines: countLines(text),
      head: takeStart(text, limitBytes),
      tail: takeEnd(text, limitBytes),
      matches: findMatches(text, words),
    },
    limitBytes,
  );

export const ownDigest = (
  text: string,
  { ofText, limitBytes }: { ofText: string; limitBytes: number },
): ResultDigest => ({
  schemaVersion: 1,
  kind: 'own',
  bytes: Buffer.byteLength(ofText),
  lines: countLines(ofText),
  text: fitStart(toWellFormed(text), limitBytes),
});

/** The same digest within a smaller limit. Head and tail may overlap where the text was hardly larger than the limit. */
export const clipDigest = (digest: ResultDigest, limitBytes: number): ResultDigest => {
  if (digest.kind === 'own') return { ...digest, text: fitStart(digest.text, limitBytes) };
  const matches = fitMatches(digest.matches, Math.floor(limitBytes / 4));
  const left = limitBytes - matches.reduce((sum, match) => sum + jsonBytes(match.text), 0);
  const head = fitStart(digest.head, Math.floor((left * 2) / 3));
  return { ...digest, head, tail: fitEnd(digest.tail, left - jsonBytes(head)), matches };
};

const fitMatches = (matches: readonly DigestMatch[], limitBytes: number): readonly DigestMatch[] => {
  let left = limitBytes;
  return matches.filter(({ text }) => {
    left -= jsonBytes(text);
    return left >= 0;
  });
};

const countLines = (text: string): number => {
  let lines = text === '' ? 0 : 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < text.length - 1; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
};

/** As it stands inside a JSON string, quotes included. */
const jsonBytes = (text: string): number => Buffer.byteLength(JSON.stringify(text));

/** The longest start whose JSON form fits: halved until it does, and cut inside no pair. */
const fitStart = (text: string, limitBytes: number): string => fit(limitBytes, (length) => takeStart(text, length));
const fitEnd = (text: string, limitBytes: number): string => fit(limitBytes, (length) => takeEnd(text, length));

const fit = (limitBytes: number, take: (length: number) => string): string => {
  if (limitBytes <= 2) return '';
  let low = 0;
  let high = limitBytes;
  // Binary search: a longer start has a longer JSON form.
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (jsonBytes(take(middle)) <= limitBytes) low = middle;
    else high = middle - 1;
  }
  return take(low);
};

interface Span {
  readonly start: number;
  readonly end: number;
}

const findMatches = (text: string, words: readonly string[]): readonly DigestMatch[] =>
  mergeSpans(wordsOf(words).flatMap((word) => spansOf(text, word)))
    .slice(0, MAX_MATCHES)
    .map(({ start, end }) => ({ atByte: Buffer.byteLength(text.slice(0, start)), text: text.slice(start, end) }));

const wordsOf = (words: readonly string[]): readonly string[] =>
  [...new Set(words.filter((word) => word.trim() !== '' && word.length <= MAX_WORD_LENGTH))].slice(0, MAX_WORDS);

const spansOf = (text: string, word: string): readonly Span[] => {
  const spans: Span[] = [];
  let at = text.indexOf(word);
  while (at !== -1 && spans.length < MAX_SPANS_PER_WORD) {
    const span = widen(text, at, at + word.length);
    spans.push(span);
    at = text.indexOf(word, Math.max(span.end, at + word.length));
  }
  return spans;
};

/** To the line's ends, or as far as the margin reaches; never into the middle of a pair. */
const widen = (text: string, from: number, to: number): Span => {
  const before = takeEnd(text.slice(Math.max(0, from - MATCH_MARGIN - 1), from), MATCH_MARGIN);
  const after = takeStart(text.slice(to, to + MATCH_MARGIN + 1), MATCH_MARGIN);
  const lineStart = before.lastIndexOf('\n') + 1;
  const lineEnd = after.indexOf('\n');
  return {
    start: from - before.length + lineStart,
    end: to + (lineEnd === -1 ? after.length : lineEnd),
  };
};

/** Overlapping spans become one, until that would be too long; then the later one is left out. */
const mergeSpans = (spans: readonly Span[]): readonly Span[] => {
  const sorted = [...spans].sort((one, other) => one.start - other.start);
  const merged: Span[] = [];
  for (const span of sorted) {
    const last = merged.at(-1);
    if (last === undefined || span.start > last.end) merged.push(span);
    else if (span.end - last.start <= MAX_SPAN_LENGTH) {
      merged[merged.length - 1] = { start: last.start, end: Math.max(last.end, span.end) };
    }
  }
  return merged;
};
