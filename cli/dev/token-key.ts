/** The key of a development stack's tokens: made once, kept with what the stack stores, for its owner alone. */
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '../stack/errors';

const KEY_BYTES = 32;

/** In base64. */
export const keepTokenKey = (directory: string): string => {
  const path = join(directory, 'token.key');
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    const key = randomBytes(KEY_BYTES).toString('base64');
    writeFileSync(path, `${key}\n`, { mode: 0o600 });
    return key;
  }
};
