/**
 * The desk as a process. It prints `{"ready":true,"url":"http://127.0.0.1:PORT"}` when it listens, and ends on SIGTERM,
 * SIGINT or, with `--exit-with-parent`, when the pipe on its standard input closes.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { serve } from '@hono/node-server';
import { z } from 'zod';
import { createDesk, type Desk } from './desk';

const USAGE =
  'usage: main.js [--port 0] [--data DIR] [--callback-secret-file FILE] [--exit-with-parent] [--no-control]';
const HOST = '127.0.0.1';

type Flags = z.infer<typeof flagsSchema>;
const flagsSchema = z.object({
  port: z.coerce.number().int().min(0).max(65_535).default(0),
  data: z.string().min(1).optional(),
  'callback-secret-file': z.string().min(1).optional(),
  'exit-with-parent': z.boolean().default(false),
  'no-control': z.boolean().default(false),
});

function main(): void {
  const flags = readFlags();
  const desk = openDesk(flags);
  const server = serve({ fetch: desk.app.fetch, hostname: HOST, port: flags.port }, ({ port }) => {
    process.stdout.write(`${JSON.stringify({ ready: true, url: `http://${HOST}:${String(port)}` })}\n`);
  });
  server.once('error', (error: Error) => {
    process.stderr.write(`cannot listen on ${HOST}:${String(flags.port)}: ${error.message}\n`);
    process.exit(1);
  });
  const stop = (): void => {
    server.close();
    desk.close();
    // Every acknowledged effect is on disk already; whoever still holds a connection sees it cut.
    process.exit(0);
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  if (flags['exit-with-parent']) process.stdin.once('close', stop).resume();
}

function openDesk(flags: Flags): Desk {
  const secretFile = flags['callback-secret-file'];
  try {
    return createDesk({
      hasControl: !flags['no-control'],
      ...(flags.data !== undefined && { dataDirectory: flags.data }),
      ...(secretFile !== undefined && { callbackSecret: readFileSync(secretFile, 'utf8').trim() }),
    });
  } catch (error) {
    process.stderr.write(`${String(error)}\n`);
    process.exit(1);
  }
}

function readFlags(): Flags {
  try {
    const { values } = parseArgs({
      options: {
        port: { type: 'string' },
        data: { type: 'string' },
        'callback-secret-file': { type: 'string' },
        'exit-with-parent': { type: 'boolean' },
        'no-control': { type: 'boolean' },
      },
    });
    return flagsSchema.parse(values);
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
    process.stderr.write(`${reason}\n${USAGE}\n`);
    process.exit(2);
  }
}

main();
