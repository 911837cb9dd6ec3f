#!/usr/bin/env node
/** The `holdfast` program. */
import { processOutput } from './output';
import { runCli } from './run-cli';

// Whoever read our output has gone (`| head`): nothing is left to say. What was started is ended by the exit handlers.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : 1);
});

void runCli(process.argv.slice(2), processOutput()).then((exitCode) => {
  // Once the output is written; an idle connection must not keep the process.
  process.stdout.write('', () => {
    process.exit(exitCode);
  });
});
