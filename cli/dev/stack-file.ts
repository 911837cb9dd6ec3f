/**
 * What a running development stack tells other commands: `stack.json` in its data directory. It names the process that
 * owns the stack, so that one left behind by a crash is recognised. It holds the database's password and a key: readable by
 * its owner alone.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { processStamp } from '../stack/process-table';

const STACK = z.strictObject({
  schemaVersion: z.literal(1),
  pid: z.int().positive(),
  /** Boot and start time of that process: a later one with the same pid is not it. */
  stamp: z.string(),
  startedAt: z.iso.datetime(),
  databaseUrl: z.url(),
  temporal: z.strictObject({ address: z.string(), namespace: z.string() }),
  uiUrl: z.url().nullable(),
  taskQueue: z.string(),
  /** Null with a real model. */
  modelUrl: z.url().nullable(),
  /** What the worker serves. */
  agents: z.array(z.string()),
  /** Where they are loaded from, and what they look for in the environment. */
  agentsModule: z.strictObject({ path: z.string(), environment: z.record(z.string(), z.string()) }),
  /** Of the tokens of waits, in base64. */
  tokenKey: z.string(),
  /** The example's own processes, by name. */
  processes: z.record(z.string(), z.url()),
  logDir: z.string(),
});
export type StackFile = z.output<typeof STACK>;

export const stackFilePath = (dataDir: string): string => join(dataDir, 'stack.json');

export const writeStackFile = (dataDir: string, stack: Omit<StackFile, 'schemaVersion' | 'pid' | 'stamp'>): void => {
  const mine = { schemaVersion: 1, pid: process.pid, stamp: processStamp(process.pid) ?? 'unknown' } as const;
  const path = stackFilePath(dataDir);
  const draft = `${path}.${process.pid}`;
  // Whoever reads it finds all of it or none.
  writeFileSync(draft, `${JSON.stringify({ ...mine, ...stack }, undefined, 2)}\n`, { mode: 0o600 });
  renameSync(draft, path);
};

/** Idempotent and synchronous: an exit handler calls it. */
export const removeStackFile = (dataDir: string): void => {
  if (readStackFile(dataDir)?.pid === process.pid) rmSync(stackFilePath(dataDir), { force: true });
};

/** The stack that runs on this data directory now, if any. */
export const findLiveStack = (dataDir: string): StackFile | undefined => {
  const stack = readStackFile(dataDir);
  return stack !== undefined && processStamp(stack.pid) === stack.stamp ? stack : undefined;
};

const readStackFile = (dataDir: string): StackFile | undefined => {
  let text: string;
  try {
    text = readFileSync(stackFilePath(dataDir), 'utf8');
  } catch {
    return undefined; // no stack, or not ours to read
  }
  const parsed = STACK.safeParse(parseJson(text));
  return parsed.success ? parsed.data : undefined;
};

const parseJson = (text: string): unknown => {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
};
