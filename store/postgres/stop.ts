/** First of all on the way to an end: after it no dispatch wins and no wait opens. */
import { sql } from 'kysely';
import type { Carried } from '../../workflows/contract/activities';
import type { OperationId } from '../../workflows/contract/ids';
import { carryEvents } from './carry';
import type { Session } from './connect';
import { lockRun } from './locked-run';
import { cancelUnsentWrites, listCancelled, voidWaits } from './unsent';
import { removeWake } from './wakes';

const STOP = 'stop';

export const stopOperations = (
  session: Session,
  { ref, events }: Carried,
  isCancel: boolean,
): Promise<readonly OperationId[]> =>
  session.transact(async (trx) => {
    await carryEvents(session, trx, { run: await lockRun(trx, ref), events });
    const now = session.clock.now();
    await trx
      .updateTable('runs')
      .set({
        stopped_at: sql`coalesce(stopped_at, ${now})`,
        ...(isCancel ? { cancel_requested_at: sql<number>`coalesce(cancel_requested_at, ${now})` } : {}),
      })
      .where('tenant', '=', ref.tenant)
      .where('run', '=', ref.run)
      .where('terminal', 'is', null)
      .execute();
    await voidWaits(trx, ref);
    await cancelUnsentWrites(trx, { ref, by: STOP, code: 'CANCELLED' });
    if (isCancel) await removeWake(trx, ref, { kind: 'cancel', subject: '' });
    const cancelled = await listCancelled(trx, ref, [STOP]);
    return cancelled.map((operation) => operation.id);
  });
