/** What nobody has sent yet can be called off by us alone. On the locked run row, so that no dispatch wins meanwhile. */
import { sql } from 'kysely';
import type { OperationId } from '../../workflows/contract/ids';
import type { RunRef } from '../../workflows/contract/records';
import type { Trx } from './connect';

export interface CallOff {
  readonly ref: RunRef;
  /** `plan:<version>`, `stop`, `commit`. */
  readonly by: string;
  readonly code: 'CANCELLED' | 'SUPERSEDED';
}

/**
 * CREATED and NOT_EXECUTED writes → CANCELLED, save one of which somebody has reported since it was proved unexecuted: whoever
 * reads that says what became of it, and nothing is sent meanwhile. A read has no effect, may be under way, and is left to end.
 */
export const cancelUnsentWrites = async (trx: Trx, callOff: CallOff): Promise<readonly OperationId[]> => {
  const rows = await cancelUnsent(trx, callOff).where('effect', '=', 'write').returning('id').execute();
  return rows.map((row) => row.id);
};

export const cancelAllUnsent = async (trx: Trx, callOff: CallOff): Promise<void> => {
  await cancelUnsent(trx, callOff).execute();
};

const cancelUnsent = (trx: Trx, { ref, by, code }: CallOff) =>
  trx
    .updateTable('operations')
    .set({ state: 'CANCELLED', code, cancelled_by: by, not_before_at: null })
    .where('tenant', '=', ref.tenant)
    .where('run', '=', ref.run)
    .where(sql<boolean>`is_open`)
    .where((eb) =>
      eb.or([
        eb('state', '=', 'CREATED'),
        eb.and([
          eb('state', '=', 'NOT_EXECUTED'),
          eb.not(
            eb.exists(
              eb
                .selectFrom('inbox')
                .select('inbox.event_id')
                .whereRef('inbox.tenant', '=', 'operations.tenant')
                .whereRef('inbox.run', '=', 'operations.run')
                .whereRef('inbox.operation', '=', 'operations.id')
                .where('inbox.settled_at', 'is', null),
            ),
          ),
        ]),
      ]),
    );

/** In order of step and ordinal: what a plan change or a stop has called off, asked again the same. */
export const listCancelled = async (
  trx: Pick<Trx, 'selectFrom'>,
  ref: RunRef,
  by: readonly string[],
): Promise<readonly { readonly id: OperationId; readonly step: number }[]> => {
  if (by.length === 0) return [];
  return trx
    .selectFrom('operations')
    .select(['id', 'step'])
    .where('tenant', '=', ref.tenant)
    .where('run', '=', ref.run)
    .where('cancelled_by', 'in', by)
    .orderBy('step')
    .orderBy('ordinal')
    .execute();
};

export const voidWaits = async (trx: Trx, ref: RunRef): Promise<void> => {
  await trx
    .updateTable('waits')
    .set({ state: 'VOID' })
    .where('tenant', '=', ref.tenant)
    .where('run', '=', ref.run)
    .where('state', '=', 'OPEN')
    .execute();
};
