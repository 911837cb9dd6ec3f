/** The secrets of callbacks, as the environment has them. */
import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { InvalidSettings, loadSettings } from '../../../config/settings';

const secretOf = (bytes: Uint8Array): string => `whsec_${Buffer.from(bytes).toString('base64')}`;

const read = (value: string) => loadSettings({ HOLDFAST_CALLBACK_SECRETS: value }).callbacks.secrets;

const faultOf = (value: string): string => {
  try {
    read(value);
    return '';
  } catch (error) {
    return error instanceof InvalidSettings ? error.message : String(error);
  }
};

describe('HOLDFAST_CALLBACK_SECRETS', () => {
  test('each secret, decoded, in order; none where there is none', () => {
    const [one, other] = [randomBytes(24), randomBytes(64)];

    expect(read(`${secretOf(one)}, ${secretOf(other)}`).map((secret) => Buffer.from(secret))).toEqual([one, other]);
    expect(read('')).toEqual([]);
  });

  test.each([
    ['without its prefix', randomBytes(32).toString('base64')],
    ['too short', secretOf(randomBytes(23))],
    ['too long', secretOf(randomBytes(65))],
    ['no base64', 'whsec_ä'],
    ['an empty one in between', `${secretOf(randomBytes(32))},,${secretOf(randomBytes(32))}`],
  ])('%s: named by its place, and never shown', (_title, value) => {
    const fault = faultOf(value);

    expect(fault).toContain('HOLDFAST_CALLBACK_SECRETS');
    expect(fault).toMatch(/number \d: expected whsec_ and the base64 of 24 to 64 bytes/);
    for (const part of value.split(',').filter((each) => each.length > 8)) expect(fault).not.toContain(part);
  });
});
