/** A secret of a development stack: made once, kept with what the stack stores, for its owner alone. */
import { readFileSync, writeFileSync } from 'node:fs';
import { errorCode } from '../stack/errors';

export const keepSecret = (path: string, create: () => string): string => {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    const secret = create();
    writeFileSync(path, `${secret}\n`, { mode: 0o600 });
    return secret;
  }
};
