/** R67, R98: results of any size and any bytes. */
import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { clipDigest, decodeText, digestText, ownDigest } from '../../../../activities/context/digest';
import { takeEnd, takeStart } from '../../../../activities/context/well-formed';

const LIMIT_BYTES = 1_000;

const jsonBytes = (text: string): number => Buffer.byteLength(JSON.stringify(text));
const isWellFormed = (text: string): boolean => !/\p{Surrogate}/u.test(text) && !text.includes('\0');

const textsOf = (digest: ReturnType<typeof digestText>): readonly string[] =>
  digest.kind === 'own' ? [digest.text] : [digest.head, digest.tail, ...digest.matches.map(({ text }) => text)];

const anyText = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 3_000 }),
  fc.string({ unit: 'binary', maxLength: 3_000 }),
  fc.nat({ max: 3_000 }).map((count) => '😀'.repeat(count)),
  fc.nat({ max: 3_000 }).map((count) => `x${'😀'.repeat(count)}`),
);

test('a digest is well-formed and within its limit, whatever the text and the limit', () => {
  fc.assert(
    fc.property(anyText, fc.nat({ max: 4_000 }), fc.array(fc.string({ maxLength: 5 })), (text, limitBytes, words) => {
      const decoded = decodeText(Buffer.from(text, 'utf8'));
      const digest = digestText(decoded, { limitBytes, words });
      const texts = textsOf(digest);
      expect(texts.every(isWellFormed)).toBe(true);
      expect(texts.reduce((sum, part) => sum + (part === '' ? 0 : jsonBytes(part)), 0)).toBeLessThanOrEqual(limitBytes);
      expect(digestText(decoded, { limitBytes, words })).toEqual(digest);
    }),
  );
});

test('a cut never falls inside a pair', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 50 }), fc.nat({ max: 60 }), (text, length) => {
      expect(isWellFormed(takeStart(text, length).replaceAll('\0', ''))).toBe(true);
      expect(isWellFormed(takeEnd(text, length).replaceAll('\0', ''))).toBe(true);
      expect(text.startsWith(takeStart(text, length))).toBe(true);
      expect(text.endsWith(takeEnd(text, length))).toBe(true);
    }),
  );
});

test('head, tail and counts tell what the result is like', () => {
  const text = Array.from({ length: 1_000 }, (_, index) => `line ${String(index + 1)}`).join('\n');
  const digest = digestText(text, { limitBytes: LIMIT_BYTES, words: [] });
  expect(digest).toMatchObject({ kind: 'excerpt', bytes: text.length, lines: 1_000, matches: [] });
  expect(textsOf(digest)[0]?.startsWith('line 1\nline 2')).toBe(true);
  expect(textsOf(digest)[1]?.endsWith('line 1000')).toBe(true);
});

test('lines around the words that are looked for are kept, with the byte where they begin', () => {
  const text = `${'é'.repeat(5_000)}\nticket T100 is with payments\n${'y'.repeat(5_000)}`;
  const digest = digestText(text, { limitBytes: LIMIT_BYTES, words: ['T100', 'absent'] });
  expect(digest).toMatchObject({ matches: [{ atByte: 10_001, text: 'ticket T100 is with payments' }] });
  const bytes = Buffer.from(text, 'utf8').subarray(10_001, 10_001 + 6);
  expect(bytes.toString('utf8')).toBe('ticket');
});

test('a word that stands everywhere leaves room for head and tail', () => {
  const digest = digestText('T100 '.repeat(100_000), { limitBytes: LIMIT_BYTES, words: ['T100'] });
  expect(textsOf(digest)[0]?.length).toBeGreaterThan(400);
});

test.each<readonly [string, Uint8Array, string]>([
  ['half a pair in UTF-8 (CESU)', Uint8Array.of(0xed, 0xa0, 0xbd), '\ufffd\ufffd\ufffd'],
  ['invalid bytes', Uint8Array.of(0x61, 0xff, 0x62), 'a\ufffdb'],
  ['NUL', Uint8Array.of(0x61, 0x00), 'a\ufffd'],
  ['a byte order mark', Uint8Array.of(0xef, 0xbb, 0xbf, 0x61), '\ufeffa'],
])('%s becomes text that a strict parser takes', (_title, bytes, text) => {
  expect(decodeText(bytes)).toBe(text);
});

test('5 MB of U+FEFF become a digest, in little time', () => {
  const bytes = Buffer.from('\ufeff'.repeat(1_700_000), 'utf8');
  const startedAt = performance.now();
  const digest = digestText(decodeText(bytes), { limitBytes: 8_192, words: ['T100', 'team'] });
  expect(performance.now() - startedAt).toBeLessThan(2_000);
  expect(digest.bytes).toBe(bytes.length);
  expect(Buffer.byteLength(JSON.stringify(digest))).toBeLessThan(9_000);
});

test('a smaller form of a digest is one of the same result', () => {
  const text = `start ${'a\n'.repeat(9_000)} T100 ${'b'.repeat(9_000)} end`;
  const digest = digestText(text, { limitBytes: 8_192, words: ['T100'] });
  const clipped = clipDigest(digest, 512);
  expect(clipped).toMatchObject({ bytes: digest.bytes, lines: digest.lines });
  expect(textsOf(clipped).reduce((sum, part) => sum + jsonBytes(part), 0)).toBeLessThanOrEqual(512);
  expect(clipDigest(clipped, 512)).toEqual(clipped);
});

test("a tool's own digest is bounded too", () => {
  const digest = ownDigest(`\ud83d${'x'.repeat(10_000)}`, { ofText: 'body', limitBytes: 100 });
  expect(digest).toEqual({ schemaVersion: 1, kind: 'own', bytes: 4, lines: 1, text: `\ufffd${'x'.repeat(95)}` });
});
