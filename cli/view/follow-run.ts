/** Follows a run's journal by position, from its start to its end. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Runs } from '../../client/runs';
import type { JournalEntry, RunRow } from '../../store/rows';
import { isTerminal } from '../../workflows/machine/states';
import { IMPATIENT, type Patience } from './patience';

export interface FollowOptions {
  readonly runs: Runs;
  readonly tenant: string;
  readonly run: string;
  readonly everyMs: number;
  /** Ends the following early; nothing is thrown. */
  readonly signal: AbortSignal;
  /** Positions up to this one are not told. */
  readonly after?: number;
  /** How a database that is away is borne. */
  readonly patiently?: Patience;
}

export interface JournalPage {
  readonly row: RunRow;
  readonly entries: readonly JournalEntry[];
}

const PAGE = 200;

/** Each page with new lines, and the row as it was read before them; the last page is of a row with its terminal. */
export async function* followRun(options: FollowOptions): AsyncGenerator<JournalPage> {
  const { runs, tenant, run, everyMs, signal, after = 0, patiently = IMPATIENT } = options;
  let position = after;
  while (!signal.aborted) {
    // The row first: what ended it is then in the lines that are read after it.
    const row = await patiently(() => runs.get(tenant, run));
    const page = { after: position, limit: PAGE };
    const entries = await patiently(() => runs.events(tenant, run, page));
    position = entries.at(-1)?.position ?? position;
    const isLast = entries.length < PAGE && row.terminal !== undefined && isTerminal(row.terminal);
    if (entries.length > 0 || isLast) yield { row, entries };
    if (isLast) return;
    if (entries.length < PAGE) await delay(everyMs, undefined, { signal }).catch(() => undefined);
  }
}
