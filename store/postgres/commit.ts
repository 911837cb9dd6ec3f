/**
 * The end of a run, once: terminal, result, voided waits, called-off operations, and who goes after those without a proved
 * end, in one transaction on the locked run row.
 * Who comes second gets what the first one wrote.
 */
import { sql } from 'kysely';
import type { Carried, CommitOutcome, MachineEvent } from '../../workflows/contract/activities';
import type { OperationId } from '../../workflows/contract/ids';
import type { Result, RunRef } from '../../workflows/contract/records';
import { isUnproved, OPERATION_STATES } from '../../workflows/machine/operation-transitions';
import type { State } from '../../workflows/machine/states';
import type { RunStore } from '../store';
import { encodeJson, insertArtifact, parseJson } from './artifacts';
import { carryEvents } from './carry';
import type { Db, Session, Trx } from './connect';
import { lockRun, type LockedRun } from './locked-run';
import { cancelAllUnsent, voidWaits } from './unsent';
import { insertWake, removeWakesOfEnded } from './wakes';

type End = Parameters<RunStore['commit']>[1];

export const commitRun = (session: Session, { ref, events }: Carried, end: End): ReturnType<RunStore['commit']> =>
  session.transact(async (trx) => {
    const run = await carryEvents(session, trx, { run: await lockRun(trx, ref), events });
    if (run.end === undefined && run.planVersion > (end.planVersion ?? run.planVersion)) return undefined;
    return run.end ?? endRun(session, trx, { run, end });
  });

interface Ending {
  /** Locked, and without a terminal. */
  readonly run: LockedRun;
  readonly end: End;
}

/** Everything that belongs to an end, whoever brings it about. */
export const endRun = async (session: Session, trx: Trx, { run, end }: Ending): Promise<CommitOutcome> => {
  const { ref } = run;
  await cancelAllUnsent(trx, { ref, by: 'commit', code: 'CANCELLED' });
  await voidWaits(trx, ref);
  await removeWakesOfEnded(trx, ref);
  const unproved = await listUnproved(trx, ref);
  const terminal = end.terminal === 'CANCELLED' && unproved.length > 0 ? 'CANCEL_UNKNOWN' : end.terminal;
  for (const operation of unproved) {
    await insertWake(session, trx, { ref, wake: { kind: 'reconcile', subject: operation, isDue: true } });
  }
  const outcome = { terminal, reason: end.reason };
  await writeResult(session, trx, { ref, result: { ...end.buildResult(terminal), version: 1 } });
  await writeTerminal(session, trx, { run, outcome });
  return outcome;
};

/** What is NOT_EXECUTED and was not called off has a report that nobody has read. */
const UNPROVED = OPERATION_STATES.filter((state) => isUnproved(state) || state === 'NOT_EXECUTED');

const listUnproved = async (trx: Trx, ref: RunRef): Promise<readonly OperationId[]> => {
  const rows = await trx
    .selectFrom('operations')
    .select('id')
    .where('tenant', '=', ref.tenant)
    .where('run', '=', ref.run)
    .where(sql<boolean>`is_open`)
    .where('state', 'in', UNPROVED)
    .execute();
  return rows.map(({ id }) => id);
};

export const writeResult = async (
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

export const readResult = async (db: Db | Trx, ref: RunRef, version?: number): Promise<Result | undefined> => {
  const row = await db
    .selectFrom('results')
    .innerJoin('artifacts', (join) =>
      join.onRef('artifacts.tenant', '=', 'results.tenant').onRef('artifacts.hash', '=', 'results.artifact'),
    )
    .select('artifacts.bytes')
    .where('results.tenant', '=', ref.tenant)
    .where('results.run', '=', ref.run)
    .$if(version !== undefined, (results) => results.where('results.version', '=', version ?? 0))
    .orderBy('results.version', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row && parseResult(parseJson(row.bytes));
};

// Written here and by `resolutions.ts` alone, in this shape.
const parseResult = (value: unknown): Result => value as Result;
