/**
 * The end of a run, once: terminal, result, voided waits and called-off operations in one transaction on the locked run row.
 * Who comes second gets what the first one wrote.
 */
import { sql } from 'kysely';
import type { Carried, CommitOutcome, MachineEvent } from '../../workflows/contract/activities';
import type { Result, RunRef } from '../../workflows/contract/records';
import { isUnproved, OPERATION_STATES } from '../../workflows/machine/operation-transitions';
import type { State } from '../../workflows/machine/states';
import type { RunStore } from '../store';
import { encodeJson, insertArtifact, parseJson } from './artifacts';
import { carryEvents } from './carry';
import type { Db, Session, Trx } from './connect';
import { lockRun, type LockedRun } from './locked-run';
import { cancelAllUnsent, voidWaits } from './unsent';

type End = Parameters<RunStore['commit']>[1];

export const commitRun = (session: Session, { ref, events }: Carried, end: End): Promise<CommitOutcome> =>
  session.transact(async (trx) => {
    const run = await carryEvents(session, trx, { run: await lockRun(trx, ref), events });
    if (run.end !== undefined) return run.end;
    await cancelAllUnsent(trx, { ref, by: 'commit', code: 'CANCELLED' });
    await voidWaits(trx, ref);
    const terminal = end.terminal === 'CANCELLED' && (await hasUnproved(trx, ref)) ? 'CANCEL_UNKNOWN' : end.terminal;
    const outcome = { terminal, reason: end.reason };
    await writeResult(session, trx, { ref, result: { ...end.buildResult(terminal), version: 1 } });
    await writeTerminal(session, trx, { run, outcome });
    return outcome;
  });

const UNPROVED = OPERATION_STATES.filter(isUnproved);

const hasUnproved = async (trx: Trx, ref: RunRef): Promise<boolean> => {
  const row = await trx
    .selectFrom('operations')
    .select('id')
    .where('tenant', '=', ref.tenant)
    .where('run', '=', ref.run)
    .where(sql<boolean>`is_open`)
    .where('state', 'in', UNPROVED)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
};

const writeResult = async (
  session: Session,
  trx: Trx,
  { ref, result }: { readonly ref: RunRef; readonly result: Result },
): Promise<void> => {
  const artifact = await insertArtifact(session, trx, { tenant: ref.tenant, content: encodeJson(result) });
  await trx
    .insertInto('results')
    .values({
      tenant: ref.tenant,
      run: ref.run,
      version: result.version,
      artifact,
      recorded_at: session.clock.now(),
    })
    .execute();
};

/** The terminal's event has the next number. The workflow adopts it; nothing it decides afterwards is numbered here. */
const writeTerminal = async (
  { clock }: Session,
  trx: Trx,
  { run, outcome }: { readonly run: LockedRun; readonly outcome: CommitOutcome },
): Promise<void> => {
  const { tenant, run: id } = run.ref;
  const { rows } = await sql<{ readonly at: number }>`select ${clock.nowMs()} as at`.execute(trx);
  const event = toTerminalEvent(run, outcome, rows[0]?.at ?? 0);
  await trx
    .with('line', (db) =>
      db.insertInto('journal').values({
        tenant,
        run: id,
        position: run.nextPosition,
        kind: 'machine',
        seq: event.seq,
        body: JSON.stringify(event),
        recorded_at: clock.now(),
      }),
    )
    .updateTable('runs')
    .set({
      state: outcome.terminal,
      terminal: outcome.terminal,
      reason: outcome.reason,
      seq: event.seq,
      next_position: run.nextPosition + 1,
      ended_at: clock.now(),
    })
    .where('tenant', '=', tenant)
    .where('run', '=', id)
    .execute();
};

const toTerminalEvent = (run: LockedRun, { terminal, reason }: CommitOutcome, at: number): MachineEvent => ({
  seq: run.seq + 1,
  from: stateOf(run),
  event: 'committed',
  to: terminal,
  rule: 'end.committed',
  at,
  cause: { terminal, reason },
});

/** A run that never opened is in the machine's first state. */
const stateOf = ({ state }: LockedRun): State => (state === 'STARTING' ? 'READY' : state);

export const readResult = async (db: Db, ref: RunRef): Promise<Result | undefined> => {
  const row = await db
    .selectFrom('results')
    .innerJoin('artifacts', (join) =>
      join.onRef('artifacts.tenant', '=', 'results.tenant').onRef('artifacts.hash', '=', 'results.artifact'),
    )
    .select('artifacts.bytes')
    .where('results.tenant', '=', ref.tenant)
    .where('results.run', '=', ref.run)
    .orderBy('results.version', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row && parseResult(parseJson(row.bytes));
};

// Written by `commit` alone, in this shape.
const parseResult = (value: unknown): Result => value as Result;
