/** The key of a development stack's tokens. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { keepSecret } from './keep-secret';

const KEY_BYTES = 32;

/** In base64. */
export const keepTokenKey = (directory: string): string =>
  keepSecret(join(directory, 'token.key'), () => randomBytes(KEY_BYTES).toString('base64'));
