import { join } from 'node:path';
import { waitForReadyLine, type ReadyLine } from './ready-line';
import { startWatched, type ExitStatus, type Stoppable, type WatchedProcess } from './watched-process';

export interface ProcessGroupOptions {
  readonly logDir: string;
  readonly runDir?: string | undefined;
  /** From SIGTERM to SIGKILL, for each child. */
  readonly graceMs?: number | undefined;
  /** A child has ended although nobody asked it to. */
  readonly onUnexpectedExit?: ((name: string, status: ExitStatus) => void) | undefined;
}

export interface ScriptOptions {
  readonly name: string;
  /** A JavaScript file that node runs. */
  readonly script: string;
  readonly args?: readonly string[] | undefined;
  readonly nodeArgs?: readonly string[] | undefined;
  readonly cwd?: string | undefined;
  /** The whole environment; the parent's when left out. */
  readonly env?: NodeJS.ProcessEnv | undefined;
  readonly readyTimeoutMs?: number | undefined;
  /** Where a signal from outside ended it: true in place of the group's `onUnexpectedExit`. */
  readonly onKilled?: (() => boolean) | undefined;
}

export interface StartedScript {
  readonly process: WatchedProcess;
  readonly ready: ReadyLine;
}

const READY_TIMEOUT_MS = 30_000;
/** Exit codes above it are those of signals. */
const SIGNALLED = 128;

/**
 * The processes of one stack. They end in the reverse order of their start, one after another, so that what depends on
 * something ends before it. Invariants:
 * 1. a member is in the group before anybody waits for it to be ready, so that a failing start ends it as well;
 * 2. after `stop` or `killNow` nothing new is started;
 * 3. `stop` never throws because of one member: the others are ended all the same.
 */
export class ProcessGroup {
  private readonly members: Stoppable[] = [];
  private stopping: Promise<void> | undefined;

  constructor(private readonly options: ProcessGroupOptions) {}

  /** Starts a node script and waits for its ready line (`{"ready":true,...}`). */
  async startScript(script: ScriptOptions): Promise<StartedScript> {
    this.requireOpen(script.name);
    const child = await startWatched({
      name: script.name,
      command: process.execPath,
      args: [...(script.nodeArgs ?? []), script.script, ...(script.args ?? [])],
      logFile: join(this.options.logDir, `${script.name}.log`),
      runDir: this.options.runDir,
      cwd: script.cwd,
      env: script.env,
      graceMs: this.options.graceMs,
    });
    this.add(child);
    this.report(child, script);
    const ready = await waitForReadyLine(child, script.readyTimeoutMs ?? READY_TIMEOUT_MS);
    return { process: child, ready };
  }

  /** Takes in something started elsewhere (PostgreSQL, Temporal); it is ended with the rest. */
  add(member: Stoppable): void {
    if (this.stopping !== undefined) member.killNow();
    else this.members.push(member);
  }

  /** Ends all, last started first. Idempotent: later calls get the first one's promise. */
  stop(): Promise<void> {
    this.stopping ??= this.stopAll();
    return this.stopping;
  }

  /** SIGKILL to all at once, synchronously. */
  killNow(): void {
    this.stopping ??= Promise.resolve();
    for (const member of [...this.members].reverse()) member.killNow();
  }

  private async stopAll(): Promise<void> {
    for (const member of [...this.members].reverse()) {
      try {
        await member.stop();
      } catch {
        member.killNow();
      }
    }
  }

  private report(child: WatchedProcess, { onKilled }: ScriptOptions): void {
    void child.exited.then((status) => {
      if (this.stopping !== undefined) return;
      const isSeenTo = status.code > SIGNALLED && onKilled?.() === true;
      if (!isSeenTo) this.options.onUnexpectedExit?.(child.name, status);
    });
  }

  private requireOpen(name: string): void {
    if (this.stopping !== undefined) throw new Error(`${name} cannot be started: the process group is ending`);
  }
}
