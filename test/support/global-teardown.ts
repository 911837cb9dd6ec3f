import { takeBroker } from './kept-broker';

/** After the last integration file: ends the shared servers. */
async function globalTeardown(): Promise<void> {
  await takeBroker()?.stop();
}

// jest wants the function itself as the module.
export = globalTeardown;
