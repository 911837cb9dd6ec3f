/** Questions on this process's terminal. */
import { createInterface } from 'node:readline';
import type { Terminal } from './ask-person';

/** Reads standard input only while something is asked. */
export const processTerminal = (): Terminal => ({
  ask: (question, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) {
        resolve(undefined);
        return;
      }
      const lines = createInterface({ input: process.stdin, output: process.stdout });
      const stop = (): void => {
        process.stdout.write('\n');
        lines.close();
      };
      signal.addEventListener('abort', stop, { once: true });
      // A line reader takes Ctrl-C for itself; it is to end the stack as ever.
      lines.on('SIGINT', () => {
        stop();
        process.kill(process.pid, 'SIGINT');
      });
      // Also at the end of the input; after an answer it changes nothing.
      lines.once('close', () => {
        signal.removeEventListener('abort', stop);
        resolve(undefined);
      });
      lines.question(question, (answer) => {
        resolve(answer);
        lines.close();
      });
    }),
});
