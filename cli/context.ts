/** What every command gets. */
import { loadSettings, type Settings } from '../config/settings';
import type { Output } from './output';

export interface CliContext {
  readonly output: Output;
  /** Throws InvalidSettings, which names every wrong variable. */
  readonly settings: () => Settings;
}

/** What a command was asked to do returns the program's exit code. */
export type Action<Options> = (options: Options, context: CliContext) => Promise<number>;

export const createContext = (output: Output): CliContext => ({ output, settings: () => loadSettings() });
