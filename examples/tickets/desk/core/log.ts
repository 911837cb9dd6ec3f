/**
 * The desk's only durable thing: an append-only file of JSON lines, replayed at start.
 *
 * Invariants:
 * 1. `append` returns after the line has been flushed to the disk, or throws and leaves the file as it was.
 * 2. One line is one change: what must happen together is in the same line.
 * 3. A last line without its line feed was never acknowledged; it is cut off at start. A bad line elsewhere is an error.
 * One process per directory.
 */
import { closeSync, fsyncSync, ftruncateSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { effectSchema, jobSchema, recordedReplySchema, ruleSchema, settingsSchema, ticketSchema } from './model';

export const logRecordSchema = z.discriminatedUnion('type', [
  z.object({
    schemaVersion: z.literal(1),
    type: z.literal('change'),
    ticket: ticketSchema.optional(),
    rule: ruleSchema.optional(),
    effect: effectSchema.optional(),
    job: jobSchema.optional(),
    recorded: recordedReplySchema.optional(),
    settings: settingsSchema.optional(),
  }),
  z.object({ schemaVersion: z.literal(1), type: z.literal('reset') }),
]);
export type LogRecord = z.infer<typeof logRecordSchema>;

export interface DeskLog {
  /** What was there when the log was opened, oldest first. */
  readonly records: readonly LogRecord[];
  append(record: LogRecord): void;
  close(): void;
}

/** The file on disk is not what this desk wrote. */
export class LogCorruptedError extends Error {
  override readonly name = 'LogCorruptedError';
  readonly code = 'desk.log_corrupted';

  constructor(
    readonly path: string,
    readonly line: number,
    cause: unknown,
  ) {
    super(`${path}:${String(line)} is not a record of this desk`, { cause });
  }
}

export function memoryLog(): DeskLog {
  return { records: [], append: () => undefined, close: () => undefined };
}

export function fileLog(directory: string): DeskLog {
  mkdirSync(directory, { recursive: true });
  const path = join(directory, 'desk.jsonl');
  const fd = openSync(path, 'a+');
  const content = readFileSync(fd);
  let sizeBytes = content.lastIndexOf('\n') + 1;
  if (sizeBytes < content.length) ftruncateSync(fd, sizeBytes);
  syncDirectory(directory);
  return {
    records: parseLines(path, content.subarray(0, sizeBytes).toString('utf8')),
    append: (record) => {
      const line = Buffer.from(`${JSON.stringify(record)}\n`);
      try {
        writeAll(fd, line);
        fsyncSync(fd);
      } catch (error) {
        ftruncateSync(fd, sizeBytes);
        throw error;
      }
      sizeBytes += line.length;
    },
    close: () => {
      closeSync(fd);
    },
  };
}

function parseLines(path: string, text: string): readonly LogRecord[] {
  const lines = text.split('\n').slice(0, -1);
  return lines.map((line, index) => {
    try {
      return logRecordSchema.parse(JSON.parse(line));
    } catch (error) {
      throw new LogCorruptedError(path, index + 1, error);
    }
  });
}

function writeAll(fd: number, bytes: Buffer): void {
  let written = 0;
  while (written < bytes.length) written += writeSync(fd, bytes, written);
}

/** A new file's name is durable only once its directory has been flushed. */
function syncDirectory(directory: string): void {
  const fd = openSync(directory, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
