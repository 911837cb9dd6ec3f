/** Prints a run's journal as it grows, one line for each transition, until the run ends. */
import type { Output } from '../output';
import type { RunRow } from '../../store/rows';
import { followRun } from './follow-run';
import { renderEntry } from './journal-line';
import { IMPATIENT, type Patience } from './patience';
import type { RunReader } from './run-record';

export interface WatchOptions extends RunReader {
  readonly run: string;
  readonly everyMs: number;
  readonly signal: AbortSignal;
  /** How a database that is away is borne. */
  readonly patiently?: Patience;
  /** Told the row of every page; true ends the watching. */
  readonly isEnough?: (row: RunRow) => boolean;
  /** Told the row of every page, when its lines are printed; the next lines follow when it is done. */
  readonly afterPage?: (row: RunRow) => Promise<void>;
}

/** Resolves to the row as it was read last, or undefined where the signal came before any line. */
export const watchRun = async (
  { run, isEnough, afterPage, ...options }: WatchOptions,
  output: Pick<Output, 'print' | 'colors'>,
): Promise<RunRow | undefined> => {
  const { runs, tenant, patiently = IMPATIENT } = options;
  let last: RunRow | undefined;
  for await (const { row, entries } of followRun({ run, ...options })) {
    last = row;
    if (entries.length > 0) {
      const details = await patiently(() => runs.details(tenant, run));
      const context = { startedAt: row.createdAt, details, colors: output.colors };
      for (const entry of entries) output.print(renderEntry(entry, context));
      last = details.row;
    }
    if (isEnough?.(last) === true) break;
    await afterPage?.(last);
  }
  return last;
};
