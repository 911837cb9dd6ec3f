/** `runs get --json`: the report and the records below it. */
import type { RunRecord } from './run-record';
import { buildReport, type RunReport } from './run-report';

export interface DetailsDocument extends RunReport {
  readonly details: Omit<RunRecord['details'], 'totals'>;
  readonly budgets: RunRecord['budgets'] | null;
}

export const getDocument = (record: RunRecord): DetailsDocument => {
  const { totals: _, ...details } = record.details;
  return { ...buildReport(record), details, budgets: record.budgets ?? null };
};
