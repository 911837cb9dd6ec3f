/** The service of a development stack: receives the callbacks of the example's processes, on loopback. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { environmentOfDevWorker } from '../../config/environment';
import { keepSecret } from './keep-secret';
import { startKept, type KeptOptions } from './start-kept';

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

// Below cli/dev in the sources and in the build alike.
const PROGRAM = join(__dirname, '..', 'main.js');

/** Resolves to its address, which stays when it is killed. `environment` is that of the stack's worker. */
export const startService = (
  options: KeptOptions,
  { secret }: CallbackSecret,
  environment: Parameters<typeof environmentOfDevWorker>[0],
): Promise<string> =>
  startKept(options, {
    name: 'service',
    canTakePort: true,
    at: (port) => ({
      script: PROGRAM,
      args: ['serve', '--host', '127.0.0.1', '--port', String(port), '--exit-with-parent'],
      env: environmentOfDevWorker({ ...environment, HOLDFAST_CALLBACK_SECRETS: secret }),
    }),
  });
