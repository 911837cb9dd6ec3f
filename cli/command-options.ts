/** Options that many commands share, and how their values are read. */
import { InvalidArgumentError, type Command } from 'commander';
import type { Action } from './context';

/** Loads what a command does when it is asked for. */
export type Add = <Options>(command: Command, load: () => Promise<Action<Options>>) => void;

export const withJson = (command: Command, does = 'print one JSON document on standard output'): Command =>
  command.option('--json', does);

export const scoped = (command: Command, json?: string): Command =>
  withJson(command, json)
    .option('--tenant <tenant>', 'whose runs', 'default')
    .option('--subject <subject>', 'who asks', 'cli');

/** For commands whose permission is checked. */
export const scopedWithRoles = (command: Command, json?: string): Command =>
  scoped(command, json).option('--role <role>', 'a role of the subject; may be repeated', collect, []);

export const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];

export const parseCount = (given: string): number => {
  const count = Number(given);
  if (!Number.isInteger(count) || count < 1 || count > 1000) {
    throw new InvalidArgumentError(`expected an integer from 1 to 1000`);
  }
  return count;
};
