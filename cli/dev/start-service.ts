/** The service of a development stack: receives the callbacks of the example's processes, on loopback. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';
import { environmentOfDevWorker } from '../../config/environment';
import type { ProcessGroup } from '../stack/process-group';
import { keepSecret } from './keep-secret';

export interface CallbackSecret {
  /** For processes that sign with it. */
  readonly file: string;
  readonly secret: string;
}

const SECRET_BYTES = 32;

export const keepCallbackSecret = (directory: string): CallbackSecret => {
  const file = join(directory, 'callback.secret');
  return { file, secret: keepSecret(file, () => `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`) };
};

const READY = z.object({ url: z.url() });

// Below cli/dev in the sources and in the build alike.
const PROGRAM = join(__dirname, '..', 'main.js');

/** Resolves to its address. `environment` is that of the stack's worker. */
export const startService = async (
  group: ProcessGroup,
  { secret }: CallbackSecret,
  environment: Parameters<typeof environmentOfDevWorker>[0],
): Promise<string> => {
  const { ready } = await group.startScript({
    name: 'service',
    script: PROGRAM,
    args: ['serve', '--host', '127.0.0.1', '--port', '0', '--exit-with-parent'],
    env: environmentOfDevWorker({ ...environment, HOLDFAST_CALLBACK_SECRETS: secret }),
  });
  return READY.parse(ready).url;
};
