/** Runs whose workflow the engine has closed: nobody is left who would commit an end of their own. */
import { buildResult } from '../build-result';
import type { CommitOutcome } from '../../workflows/contract/activities';
import type { RunId } from '../../workflows/contract/ids';
import type { RunRef } from '../../workflows/contract/records';
import type { OperationRow } from '../rows';
import type { RunStore } from '../store';
import { endRun } from './commit';
import type { Db, Session, Trx } from './connect';
import { lockRun } from './locked-run';
import { noteEvents } from './note';
import { toOperationRow } from './operation-row';

type Closing = Parameters<RunStore['closeFromOutside']>[1];

/**
 * The row's state is that of the last event that a carrier has brought, and the terminal's event follows it. What the
 * workflow knew beyond that is lost with it; what it did is in operations and ledger.
 */
export const closeFromOutside = (
  session: Session,
  ref: RunRef,
  { reason, eventId, body }: Closing,
): Promise<CommitOutcome> =>
  session.transact(async (trx) => {
    const locked = await lockRun(trx, ref);
    if (locked.end !== undefined) return locked.end;
    const run = await noteEvents(session, trx, { run: locked, notes: [{ eventId, body }] });
    await loseAttempts(session, trx, ref);
    const { totals } = run;
    const parts = { run: ref.run, ending: { reason }, operations: await listOperations(trx, ref), totals };
    const buildFromRows = (terminal: CommitOutcome['terminal']) => buildResult(parts, terminal);
    return endRun(session, trx, { run, end: { terminal: 'FAILED', reason, buildResult: buildFromRows } });
  });

const listOperations = async (trx: Trx, { tenant, run }: RunRef): Promise<readonly OperationRow[]> => {
  const rows = await trx
    .selectFrom('operations')
    .selectAll()
    .where('tenant', '=', tenant)
    .where('run', '=', run)
    .orderBy('step')
    .orderBy('ordinal')
    .execute();
  return rows.map(toOperationRow);
};

/** Their reservations are in the totals already, as estimates; one that ends after all corrects them. */
const loseAttempts = async ({ clock }: Session, trx: Trx, { tenant, run }: RunRef): Promise<void> => {
  await trx
    .with('entries', (db) =>
      db
        .updateTable('ledger')
        .set({ is_open: false })
        .where('tenant', '=', tenant)
        .where('run', '=', run)
        .where('is_open', '=', true),
    )
    .updateTable('attempts')
    .set({ state: 'LOST', ended_at: clock.now() })
    .where('tenant', '=', tenant)
    .where('run', '=', run)
    .where('state', '=', 'OPEN')
    .execute();
};

/** Run ids are unique across tenants. */
export const listUnended = async (db: Db, runs: readonly RunId[]): Promise<readonly RunRef[]> => {
  if (runs.length === 0) return [];
  return db
    .selectFrom('runs')
    .select(['tenant', 'run'])
    .where('run', 'in', runs)
    .where('terminal', 'is', null)
    .execute();
};
