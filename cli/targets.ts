/** Which services a command works with: those that the environment names, else the development stack that runs here. */
import { isTemporalNamed, loadTemporalAddress, type TemporalAddress } from '../config/temporal-connection';
import type { Settings } from '../config/settings';
import { findLiveStack, type StackFile } from './dev/stack-file';
import { CommandFailure } from './errors';

export interface Targets {
  readonly databaseUrl: string | undefined;
  readonly temporal: TemporalAddress;
  readonly taskQueue: string;
  /** Set where the addresses are those of the development stack. */
  readonly stack?: StackFile;
}

/**
 * A stack on the same data directory stands in where nothing else is named: no Temporal, and no database or the very one
 * that the stack uses. Throws `engine.settings_invalid` where Temporal's own settings cannot be read.
 */
export const findTargets = (settings: Settings): Targets => {
  const { databaseUrl, dataDir, taskQueue } = settings;
  const stack = isTemporalNamed() ? undefined : findLiveStack(dataDir);
  if (stack !== undefined && (databaseUrl === undefined || databaseUrl === stack.databaseUrl)) {
    return { databaseUrl: stack.databaseUrl, temporal: stack.temporal, taskQueue: stack.taskQueue, stack };
  }
  return { databaseUrl, temporal: readTemporalAddress(), taskQueue };
};

const readTemporalAddress = (): TemporalAddress => {
  try {
    return loadTemporalAddress();
  } catch (cause) {
    const mend = 'mend the TEMPORAL_… variables or the profile file (TEMPORAL_CONFIG_FILE)';
    throw new CommandFailure('engine.settings_invalid', `Temporal's settings cannot be read: ${mend}`, { cause });
  }
};

/** Without user name and password. */
export const showAddress = (url: string): string => {
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
};
