/** For whom a `runs` command works, and how it answers. */
import type { RunRow } from '../../../store/rows';

export interface ScopeOptions {
  readonly tenant: string;
  readonly subject: string;
  readonly json?: true;
}

/** Commands that wait for an end fail where it is any other. */
export const isSuccess = ({ terminal }: RunRow): boolean => terminal === 'SUCCEEDED';
