/** For whom a `runs` command works, and how it answers. */
import type { RunRow } from '../../../store/rows';

export interface ScopeOptions {
  readonly tenant: string;
  readonly subject: string;
  readonly json?: true;
}

export interface OneRunOptions extends ScopeOptions {
  readonly run: string;
}

/** How often a journal that is followed is looked at. */
export const FOLLOW_EVERY_MS = 250;

/** Commands that wait for an end fail where it is any other. */
export const isSuccess = ({ terminal }: RunRow): boolean => terminal === 'SUCCEEDED';
