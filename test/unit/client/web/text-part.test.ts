import { expect, test } from '@jest/globals';
import type { HoldfastClient } from '../../../../client/holdfast-client';
import { PART_BYTES, readTextPart } from '../../../../client/web/run/text-part';

/** An artifact, read as a client reads it. */
const reading = (bytes: Uint8Array, mediaType = 'text/plain'): Pick<HoldfastClient, 'artifact'> => ({
  artifact: (_run, _hash, { offset = 0, limit = bytes.byteLength } = {}) =>
    Promise.resolve({ bytes: bytes.subarray(offset, offset + limit), mediaType, sizeBytes: bytes.byteLength }),
});

const readAll = async (bytes: Uint8Array): Promise<string> => {
  let text = '';
  for (let offset: number | undefined = 0; offset !== undefined;) {
    const part = await readTextPart(reading(bytes), { run: 'run_1', hash: 'h', offset });
    text += part.text ?? '?';
    offset = part.next;
  }
  return text;
};

test.each([0, 1, 2, 3])('no character is cut or lost between parts, wherever the parts begin (%i)', async (shift) => {
  const text = `${'a'.repeat(shift)}${'𝄞é€'.repeat(PART_BYTES / 4)}`;

  expect(await readAll(new TextEncoder().encode(text))).toBe(text);
});

test('JSON that is whole is indented, a part of it is shown as it is', async () => {
  const small = new TextEncoder().encode('{"a":[1]}');
  const large = new TextEncoder().encode(JSON.stringify({ a: 'x'.repeat(2 * PART_BYTES) }));
  const read = (bytes: Uint8Array) =>
    readTextPart(reading(bytes, 'application/json'), { run: 'run_1', hash: 'h', offset: 0 });

  expect((await read(small)).text).toBe('{\n  "a": [\n    1\n  ]\n}');
  expect(await read(large)).toMatchObject({ from: 0, to: PART_BYTES, next: PART_BYTES });
});

test('what is no text is none', async () => {
  const part = await readTextPart(reading(new Uint8Array([0xff, 0xfe, 0x00])), { run: 'run_1', hash: 'h', offset: 0 });

  expect(part.text).toBeUndefined();
});
