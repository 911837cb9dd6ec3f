/** Waits of several runs at once. */
import { runOfWait } from '../../../workflows/contract/ids';
import type { ReaderStore } from '../../reader';
import type { Db } from '../connect';
import { toWaitRow } from '../wait-row';

export const createWaitReader = (db: Db): Pick<ReaderStore, 'waits'> => ({
  waits: async (tenant, ids) => {
    if (ids.length === 0) return new Map();
    const rows = await db
      .selectFrom('waits')
      .selectAll()
      .where('tenant', '=', tenant)
      .where('run', 'in', [...new Set(ids.map(runOfWait))])
      .where('id', 'in', ids)
      .execute();
    return new Map(rows.map((row) => [row.id, toWaitRow(row)]));
  },
});
