/** Everything that the page of one run shows, read anew for each time it is shown. */
import type { HoldfastClient } from '../../holdfast-client';
import type { PageContext } from '../page-env';
import { readShownRun, type ShownDetails } from '../../direct/read-shown-run';
import type { EventView } from '../../schemas/event';
import type { ResultView } from '../../schemas/result';
import { statesOf, timesOf, type StateEntry, type Times } from '../../views/durations';
import { parseMachineLine, type MachineLine } from '../../views/machine-line';
import { showJournal } from './show-journal';

export interface ShownRun {
  readonly details: ShownDetails;
  readonly result: ResultView | undefined;
  /** Lines of the journal, from the first; at most MAX_EVENTS of them. */
  readonly events: readonly EventView[];
  readonly isJournalWhole: boolean;
  readonly lines: readonly MachineLine[];
  readonly states: readonly StateEntry[];
  readonly times: Times;
  readonly startedAt: number;
  readonly nowMs: number;
}

const PAGE_SIZE = 500;
/** What a picture can show, and a page that refreshes itself should read. */
const MAX_EVENTS = 4 * PAGE_SIZE;

/** With the newest steps, or those before the step `before`. */
export const loadRun = async (c: PageContext, run: string, before?: number): Promise<ShownRun> => {
  const nowMs = Date.now();
  const scope = { store: c.get('service').parts.store, caller: c.get('caller') };
  const [{ details, result }, journal] = await Promise.all([
    readShownRun(scope, run, before),
    readJournal(c.get('client'), run),
  ]);
  const { createdAt, openedAt, endedAt } = details.run;
  const lines = journal.events.flatMap((event) => parseMachineLine(event) ?? []);
  return {
    details,
    result,
    events: journal.events.map(showJournal),
    isJournalWhole: journal.isWhole,
    lines,
    states: statesOf(lines, Date.parse(openedAt ?? createdAt)),
    times: timesOf(lines, endedAt === undefined ? nowMs : undefined),
    startedAt: Date.parse(createdAt),
    nowMs,
  };
};

const readJournal = async (
  client: HoldfastClient,
  run: string,
): Promise<{ readonly events: readonly EventView[]; readonly isWhole: boolean }> => {
  const events: EventView[] = [];
  let after = 0;
  while (events.length < MAX_EVENTS) {
    const page = await client.events(run, { after, limit: PAGE_SIZE });
    events.push(...page.events);
    if (page.isLast || page.events.length === 0) return { events, isWhole: true };
    ({ after } = page);
  }
  return { events, isWhole: false };
};
