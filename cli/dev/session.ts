/** One use of the data directory: its lock, the processes that run on it, and their end on every way out. */
import type { Settings } from '../../config/settings';
import { CommandFailure } from '../errors';
import type { Output } from '../output';
import { emptyDataDir, openDataDir, type DataDirLayout } from '../stack/data-dir';
import { endOnExit, type EndingCause } from '../stack/exit-handlers';
import { endLeftovers } from '../stack/leftovers';
import { ProcessGroup } from '../stack/process-group';
import { removeStackFile } from './stack-file';

export interface Session {
  readonly layout: DataDirLayout;
  readonly group: ProcessGroup;
  /** Rejects when a process of the stack ends although nobody asked it to. */
  readonly broken: Promise<never>;
  /** A signal or a failure is ending everything, and will end this process. */
  isEnding(): boolean;
  close(): Promise<void>;
}

export interface SessionOptions {
  readonly isFresh: boolean;
  readonly output: Output;
}

/** Throws `stack.data_dir_locked` where another stack uses the directory. */
export const openSession = async (settings: Settings, { isFresh, output }: SessionOptions): Promise<Session> => {
  const dataDir = openDataDir(settings.dataDir);
  const { layout } = dataDir;
  const { broken, breakWith } = createBreak();
  let isEnding = false;
  const group = new ProcessGroup({
    logDir: layout.logDir,
    runDir: layout.runDir,
    onUnexpectedExit: (name, { code }) => {
      breakWith(childEnded(name, code, layout.logDir));
    },
  });
  const leave = (): void => {
    removeStackFile(layout.root);
    dataDir.release();
  };
  const forgetHandlers = endOnExit(group, {
    onEnding: (cause) => {
      isEnding = true;
      output.note(describeEnding(cause));
    },
    onEnded: leave,
  });
  const close = async (): Promise<void> => {
    await group.stop();
    forgetHandlers();
    leave();
  };
  try {
    const left = await endLeftovers(layout.runDir);
    if (left.length > 0) output.note(`Ended what a killed stack had left: ${left.join(', ')}`);
    if (isFresh) emptyDataDir(layout);
  } catch (error) {
    await close();
    throw error;
  }
  return { layout, group, broken, isEnding: () => isEnding, close };
};

interface Break {
  readonly broken: Promise<never>;
  readonly breakWith: (error: Error) => void;
}

const createBreak = (): Break => {
  let breakWith: Break['breakWith'] = () => undefined;
  const broken = new Promise<never>((_resolve, reject) => {
    breakWith = reject;
  });
  // Nobody may be waiting for it when it happens.
  broken.catch(() => undefined);
  return {
    broken,
    breakWith: (error) => {
      breakWith(error);
    },
  };
};

const childEnded = (name: string, code: number, logDir: string): CommandFailure =>
  new CommandFailure(
    'stack.child_ended',
    `${name} ended with exit code ${String(code)} although nobody asked it to: its log is ${logDir}/${name}.log`,
  );

const describeEnding = (cause: EndingCause): string => {
  if (cause.kind === 'signal') return `\n${cause.signal}: ending the stack in order; a second one ends it at once`;
  const { error } = cause;
  return `holdfast: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
};
