import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync } from 'node:fs';
import { Socket } from 'node:net';
import { dirname } from 'node:path';
import { text } from 'node:stream/consumers';
import { Readable } from 'node:stream';
import { StackError, errorCode, errorText } from './errors';
import { forgetProcess, recordProcess } from './leftovers';
import { processTree } from './process-table';
import { WATCHDOG_SCRIPT } from './watchdog-script';

export interface WatchedProcessOptions {
  /** Names the log, the pid record and the process in messages. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly logFile: string;
  /** Where the pid is kept while the process runs; see leftovers.ts. */
  readonly runDir?: string | undefined;
  readonly cwd?: string | undefined;
  /** The whole environment; the parent's when left out. */
  readonly env?: NodeJS.ProcessEnv | undefined;
  readonly user?: { readonly uid: number; readonly gid: number } | undefined;
  readonly stopSignal?: NodeJS.Signals | undefined;
  /** From the stop signal to SIGKILL. */
  readonly graceMs?: number | undefined;
}

export interface ExitStatus {
  /** 128 + signal number when a signal ended the program. */
  readonly code: number;
}

/** Something that a process group can end. */
export interface Stoppable {
  readonly name: string;
  /** Asks to end, and ends by SIGKILL after the grace. Idempotent. */
  stop(): Promise<void>;
  /** SIGKILL now, synchronously: for a second Ctrl-C and for exit handlers. */
  killNow(): void;
}

export interface WatchedProcess extends Stoppable {
  /** The program's own pid, not its watchdog's. */
  readonly pid: number;
  readonly logFile: string;
  readonly exited: Promise<ExitStatus>;
  hasExited(): boolean;
  signal(signal: NodeJS.Signals): void;
  /** Stops the program and all below it with SIGSTOP, as a hanging machine would look. */
  freeze(): void;
  thaw(): void;
  /** Lets this process end while the program runs, which then ends with it. */
  unref(): void;
}

const DEFAULT_GRACE_MS = 5_000;

/**
 * Starts a program that ends when this process ends, whatever ends it (see watchdog-script.ts).
 * It gets its own session, so a Ctrl-C in the terminal reaches this process alone, which then decides the order of ending.
 * Standard output and error go straight into the log file: logging costs us nothing and survives us.
 */
export async function startWatched(options: WatchedProcessOptions): Promise<WatchedProcess> {
  const watchdog = spawnWatchdog(options);
  const exited = new Promise<ExitStatus>((resolve) => {
    watchdog.once('exit', (code, signal) => {
      resolve({ code: code ?? (signal === 'SIGKILL' ? 137 : 143) });
    });
  });
  const pid = await programPid(watchdog, options);
  return watched(options, { watchdog, pid, exited });
}

/** The end of a log, for messages: what a person would look up first. */
export function logTail(logFile: string, lines = 8): string {
  if (!existsSync(logFile)) return '';
  return readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-lines).join('\n');
}

interface Started {
  readonly watchdog: ChildProcess;
  readonly pid: number;
  readonly exited: Promise<ExitStatus>;
}

function watched(options: WatchedProcessOptions, { watchdog, pid, exited }: Started): WatchedProcess {
  const { name, logFile, runDir, stopSignal = 'SIGTERM', graceMs = DEFAULT_GRACE_MS } = options;
  let gone = watchdog.exitCode !== null || watchdog.signalCode !== null;
  if (runDir !== undefined && !gone) recordProcess(runDir, { name, pid, stopSignal });
  void exited.then(() => {
    // The watchdog may have been killed from outside and have left the program behind.
    if (watchdog.signalCode !== null) killAll(processTree(pid));
    gone = true;
    if (runDir !== undefined) forgetProcess(runDir, name, pid);
  });

  const signal = (wanted: NodeJS.Signals): void => {
    if (!gone) send(pid, wanted);
  };
  const signalTree = (wanted: NodeJS.Signals): void => {
    if (!gone) for (const member of processTree(pid)) send(member, wanted);
  };
  const killNow = (): void => {
    if (gone) return;
    // The tree first, as it cannot be found once its root is gone.
    killAll(processTree(pid));
    if (watchdog.pid !== undefined) send(-watchdog.pid, 'SIGKILL');
  };
  const stop = async (): Promise<void> => {
    signal(stopSignal);
    signalTree('SIGCONT');
    const timer = setTimeout(killNow, graceMs);
    await exited;
    clearTimeout(timer);
  };
  return {
    name,
    pid,
    logFile,
    exited,
    hasExited: () => gone,
    signal,
    freeze: () => {
      signalTree('SIGSTOP');
    },
    thaw: () => {
      signalTree('SIGCONT');
    },
    stop,
    killNow,
    unref: () => {
      unrefAll(watchdog);
    },
  };
}

function spawnWatchdog(options: WatchedProcessOptions): ChildProcess {
  const { command, args, logFile, cwd, env, user, stopSignal = 'SIGTERM', graceMs = DEFAULT_GRACE_MS } = options;
  const log = openLog(logFile);
  const stdio: StdioOptions = ['pipe', log, log, 'pipe'];
  const tenths = String(Math.ceil(graceMs / 100));
  const watchdogArgs = ['-c', WATCHDOG_SCRIPT, 'watchdog', stopSignal.replace(/^SIG/, ''), tenths, command, ...args];
  try {
    return spawn('/bin/sh', watchdogArgs, {
      detached: true,
      stdio,
      ...(cwd === undefined ? {} : { cwd }),
      ...(env === undefined ? {} : { env }),
      ...user,
    });
  } finally {
    closeSync(log);
  }
}

/** A fresh log for each start; the one before is kept beside it. */
function openLog(logFile: string): number {
  mkdirSync(dirname(logFile), { recursive: true });
  if (existsSync(logFile)) renameSync(logFile, logFile.replace(/(\.log)?$/, '.previous.log'));
  return openSync(logFile, 'a', 0o600);
}

async function programPid(watchdog: ChildProcess, options: WatchedProcessOptions): Promise<number> {
  const spawned = new Promise<void>((resolve, reject) => {
    watchdog.once('spawn', resolve);
    watchdog.once('error', reject);
  });
  try {
    await spawned;
    const pidPipe = watchdog.stdio[3];
    const pid = pidPipe instanceof Readable ? Number(await text(pidPipe)) : 0;
    if (Number.isInteger(pid) && pid > 0) return pid;
    throw new Error('its watchdog did not start');
  } catch (cause) {
    const { name, command, logFile } = options;
    const message = `${name} could not be started (${command}): ${errorText(cause)}`;
    throw new StackError('stack.process_exited', message, { name, command, logFile, cause });
  }
}

function unrefAll(watchdog: ChildProcess): void {
  watchdog.unref();
  // The pipe to the watchdog is a handle of its own.
  if (watchdog.stdin instanceof Socket) watchdog.stdin.unref();
}

function killAll(pids: readonly number[]): void {
  for (const pid of pids) send(pid, 'SIGKILL');
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // Gone in between (and the pid perhaps somebody else's by now): that is what a signal is for.
    const code = errorCode(error);
    if (code !== 'ESRCH' && code !== 'EPERM') throw error;
  }
}
