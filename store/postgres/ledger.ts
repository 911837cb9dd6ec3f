/** The account as its readers see it. Its writers are `carry`, `attempts` and `dispatch`; the totals are on the run row. */
import type { Totals } from '../../workflows/machine/ledger';
import type { RunRef } from '../../workflows/contract/records';
import { RowMissing } from '../errors';
import type { LedgerEntry, LedgerStore } from '../store';
import type { Db, Session } from './connect';
import { TOTALS_COLUMNS, USAGE_COLUMNS } from './totals';

export const createLedgerStore = ({ db }: Session): LedgerStore => ({
  totals: (ref) => readTotals(db, ref),
  entries: (ref) => listEntries(db, ref),
});

export const readTotals = async (db: Db, ref: RunRef): Promise<Totals> => {
  const totals = await db
    .selectFrom('runs')
    .select(TOTALS_COLUMNS)
    .where('tenant', '=', ref.tenant)
    .where('run', '=', ref.run)
    .executeTakeFirst();
  if (totals === undefined) throw new RowMissing(ref.run);
  return totals;
};

const listEntries = async (db: Db, ref: RunRef): Promise<readonly LedgerEntry[]> => {
  const rows = await db
    .selectFrom('ledger')
    .select(['reference', 'kind', 'is_open as isOpen'])
    .select(USAGE_COLUMNS)
    .where('tenant', '=', ref.tenant)
    .where('run', '=', ref.run)
    .orderBy('entry')
    .execute();
  return rows.map(({ reference, kind, isOpen, ...usage }) => ({ reference, kind, isOpen, usage }));
};
