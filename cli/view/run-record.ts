/** All that is recorded of a run, read once: what every view and document is made from. */
import { modelUsed, type ModelUsed } from '../../client/model-used';
import { runBudgets, type RunBudgets } from '../../client/run-limits';
import type { RunDetails, Runs } from '../../client/runs';
import type { JournalEntry } from '../../store/rows';
import type { Store } from '../../store/store';
import type { Result } from '../../workflows/contract/records';
import { parseMachineLine, type MachineLine } from '../../client/views/machine-line';

export interface RunRecord {
  readonly details: RunDetails;
  readonly entries: readonly JournalEntry[];
  readonly lines: readonly MachineLine[];
  readonly result?: Result;
  readonly model?: ModelUsed;
  readonly budgets?: RunBudgets;
}

export interface RunReader {
  readonly runs: Runs;
  readonly store: Store;
  readonly tenant: string;
}

/** Throws `run.not_found`. */
export const readRecord = async (reader: RunReader, run: string, version?: number): Promise<RunRecord> => {
  const { runs, store, tenant } = reader;
  const details = await runs.details(tenant, run);
  const [entries, result, model, budgets] = await Promise.all([
    readJournal(runs, tenant, run),
    runs.result(tenant, run, version),
    modelUsed(store, details.row.ref, details.attempts),
    runBudgets(store, details.row),
  ]);
  const lines = entries.flatMap((entry) => parseMachineLine(entry) ?? []);
  return {
    details,
    entries,
    lines,
    ...(result === undefined ? {} : { result }),
    ...(model === undefined ? {} : { model }),
    ...(budgets === undefined ? {} : { budgets }),
  };
};

const PAGE = 500;

/** The whole journal, page by page. */
const readJournal = async (runs: Runs, tenant: string, run: string): Promise<readonly JournalEntry[]> => {
  const entries: JournalEntry[] = [];
  for (;;) {
    const page = await runs.events(tenant, run, { after: entries.at(-1)?.position ?? 0, limit: PAGE });
    entries.push(...page);
    if (page.length < PAGE) return entries;
  }
};
