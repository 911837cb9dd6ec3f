/** The worker as a program: reads the environment, and prints one line of JSON on standard output when it is ready. */
import { loadSettings } from '../config/settings';
import { loadTemporalAddress } from '../config/temporal-connection';
import { endWithParent } from './end-with-parent';
import { runWorker } from './run-worker';

const main = (): Promise<void> =>
  runWorker({
    settings: loadSettings(),
    temporal: loadTemporalAddress(),
    onReady: (agents, shutDown) => {
      process.stdout.write(`${JSON.stringify({ ready: true, agents })}\n`);
      endWithParent(shutDown);
    },
  });

main()
  .catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exitCode = 1;
  })
  .finally(() => {
    // The pipe from the parent would keep a worker that has stopped alive.
    process.stdin.destroy();
  });
