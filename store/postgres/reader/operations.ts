/** Operations of several runs at once. */
import { coordinatesOf } from '../../../workflows/contract/ids';
import type { ReaderStore } from '../../reader';
import type { Db } from '../connect';
import { isOperation, toOperationRow } from '../operation-row';

export const createOperationReader = (db: Db): Pick<ReaderStore, 'operations'> => ({
  operations: async (tenant, ids) => {
    if (ids.length === 0) return new Map();
    const rows = await db
      .selectFrom('operations')
      .selectAll()
      .where('tenant', '=', tenant)
      .where((eb) => eb.or(ids.map((id) => eb.and([eb('run', '=', coordinatesOf(id).run), isOperation(eb, id)]))))
      .execute();
    return new Map(rows.map((row) => [row.id, toOperationRow(row)]));
  },
});
