/** Signals that are owed to a workflow, sent again and again until what they are about has been read. */
import { sql } from 'kysely';
import type { RunRef } from '../../workflows/contract/records';
import type { Wake, WakeKind, WakeStore } from '../outside';
import { present } from './columns';
import type { Db, Session, Trx } from './connect';
import { decodeText, encodeKey } from './text';

/** Whoever wrote it signals at once; a relay does where that failed. */
const FIRST_AFTER_MS = 2_000;
const AGAIN_AFTER_MS = 5_000;
const AGAIN_AFTER_MAX_MS = 300_000;

export interface NewWake {
  readonly kind: WakeKind;
  readonly subject: string;
  /** For what nobody signals at once. */
  readonly isDue?: boolean;
}

export const createWakeStore = (session: Session): WakeStore => ({
  take: (page) => takeWakes(session, page.limit),
  seen: (ref, kind, subject) => removeWake(session.db, ref, { kind, subject }),
});

/**
 * In the transaction of what it is about. One that is owed already stays owed, and is due no later than a new one. Its row is
 * locked: a reader that takes it away now waits, and then reads what this transaction has brought.
 */
export const insertWake = async (
  { clock }: Pick<Session, 'clock'>,
  trx: Trx,
  { ref, wake }: { readonly ref: RunRef; readonly wake: NewWake },
): Promise<void> => {
  await trx
    .insertInto('wakes')
    .values({
      tenant: ref.tenant,
      run: ref.run,
      kind: wake.kind,
      subject: encodeKey('subject', wake.subject),
      due_at: wake.isDue === true ? clock.now() : clock.inMs(FIRST_AFTER_MS),
    })
    .onConflict((conflict) =>
      conflict
        .columns(['tenant', 'run', 'kind', 'subject'])
        .doUpdateSet({ due_at: sql<number>`least(wakes.due_at, excluded.due_at)` }),
    )
    .execute();
};

export const removeWake = async (
  db: Db | Trx,
  ref: RunRef,
  { kind, subject }: Pick<NewWake, 'kind' | 'subject'>,
): Promise<void> => {
  await db
    .deleteFrom('wakes')
    .where('tenant', '=', ref.tenant)
    .where('run', '=', ref.run)
    .where('kind', '=', kind)
    .where('subject', '=', encodeKey('subject', subject))
    .execute();
};

/** A run that has ended reads no message, answer or cancel any more. What the outside reports is for its reconciliation. */
export const removeWakesOfEnded = async (trx: Trx, ref: RunRef): Promise<void> => {
  await trx
    .deleteFrom('wakes')
    .where('tenant', '=', ref.tenant)
    .where('run', '=', ref.run)
    .where('kind', 'in', ['respond', 'message', 'cancel'])
    .execute();
};

/** Each try waits twice as long as the one before. */
const takeWakes = ({ db, clock }: Session, limit: number): Promise<readonly Wake[]> =>
  db.transaction().execute(async (trx) => {
    const rows = await trx
      .with('due', (cte) =>
        cte
          .selectFrom('wakes')
          .select(['tenant', 'run', 'kind', 'subject'])
          .where('due_at', '<=', clock.now())
          .orderBy('due_at')
          .limit(limit)
          .forUpdate()
          .skipLocked(),
      )
      .updateTable('wakes')
      .from('due')
      .leftJoin('runs', (join) => join.onRef('runs.tenant', '=', 'due.tenant').onRef('runs.run', '=', 'due.run'))
      .set({
        tries: sql<number>`wakes.tries + 1`,
        due_at: sql<number>`${clock.now()} + least(${AGAIN_AFTER_MS} * power(2, least(wakes.tries, 16)), ${AGAIN_AFTER_MAX_MS})::float8 * interval '1 millisecond'`,
      })
      .whereRef('wakes.tenant', '=', 'due.tenant')
      .whereRef('wakes.run', '=', 'due.run')
      .whereRef('wakes.kind', '=', 'due.kind')
      .whereRef('wakes.subject', '=', 'due.subject')
      .returning(['wakes.tenant', 'wakes.run', 'wakes.kind', 'wakes.subject', 'wakes.tries', 'runs.terminal'])
      .execute();
    return rows.map(({ tenant, run, kind, subject, tries, terminal }) => ({
      ref: { tenant, run },
      kind,
      subject: decodeText(subject),
      tries,
      ...present({ terminal }),
    }));
  });
