/**
 * Attempts and their account. The ledger entry of an attempt is its usage: a reservation while it is OPEN, the real figures
 * once it has ended, the estimate that it keeps when LOST, and the real ones again where they come late.
 */
import { sql, type RawBuilder, type Selectable } from 'kysely';
import { tokensOf, type Totals } from '../../workflows/machine/ledger';
import type { RunRef } from '../../workflows/contract/records';
import { RowMissing } from '../errors';
import type { StepRange } from '../reader';
import type { AttemptRow, Usage } from '../rows';
import type { AttemptKey, AttemptStore } from '../store';
import { endAtOnce, openAtOnce, referenceOf } from './attempts-at-once';
import { insertArtifactsOf } from './artifacts';
import { carryEvents } from './carry';
import { present } from './columns';
import type { Db, Session, Trx } from './connect';
import { lockRun, type LockedRun } from './locked-run';
import { noteEvents } from './note';
import type { AttemptsTable } from './schema';
import {
  NO_USAGE,
  replaceUsage,
  totalsToColumns,
  USAGE_COLUMNS,
  usageToColumns,
  usageTokens,
  wholeUsage,
} from './totals';

type Opening = Parameters<AttemptStore['open']>[1];
type Collecting = Parameters<AttemptStore['collect']>[1];
type End = Parameters<AttemptStore['end']>[1];
type Ended = Awaited<ReturnType<AttemptStore['end']>>;

export const createAttemptStore = (session: Session): AttemptStore => ({
  open: async ({ ref, events }, attempt) => {
    const opened = await openAtOnce(session, { ref, events }, attempt);
    if (opened !== undefined) return { kind: 'opened', isNew: true, ...opened };
    return session.transact(async (trx) => {
      const run = await carryEvents(session, trx, { run: await lockRun(trx, ref), events });
      return openAttempt(session, trx, { run, attempt });
    });
  },
  end: async (key, end) =>
    (await endAtOnce(session, key, end)) ??
    session.transact(async (trx) => {
      const run = await lockRun(trx, key.ref);
      await sql`with stored as ${insertArtifactsOf(session, key.ref.tenant, end.artifacts ?? [])} select 1`.execute(
        trx,
      );
      return endAttempt(session, trx, { run, key, end });
    }),
  collect: ({ ref, events }, attempt) =>
    session.transact(async (trx) => {
      const run = await carryEvents(session, trx, { run: await lockRun(trx, ref), events });
      return collectAttempt(session, trx, { run, attempt });
    }),
  list: (ref) => listAttempts(session.db, ref),
});

const openAttempt = async (
  session: Session,
  trx: Trx,
  { run, attempt }: { readonly run: LockedRun; readonly attempt: Opening },
): ReturnType<AttemptStore['open']> => {
  const key = { ...attempt, ref: run.ref };
  const { totals } = run;
  if (run.isCancelRequested) {
    const before = await findAttempt(trx, key);
    return before === undefined
      ? { kind: 'cancelRequested', totals }
      : { kind: 'opened', row: before, isNew: false, totals };
  }
  const usage = wholeUsage({ ...attempt.reservation, isEstimate: true });
  const budget = findSpentBudget(totals, usage, attempt.limits);
  const inserted =
    budget === undefined
      ? await insertAttempt(session, trx, { run, key, state: 'OPEN', context: attempt.context, usage })
      : undefined;
  if (inserted !== undefined) return { kind: 'opened', isNew: true, ...inserted };
  const stored = await findAttempt(trx, key);
  if (stored !== undefined) return { kind: 'opened', row: stored, isNew: false, totals };
  return { kind: 'budgetSpent', budget: budget ?? 'tokens', totals };
};

const findSpentBudget = (totals: Totals, usage: Usage, limits: Opening['limits']): 'tokens' | 'cost' | undefined => {
  if (tokensOf(totals) + usageTokens(usage) > limits.maxTokens) return 'tokens';
  return totals.costMicros + usage.costMicros > limits.maxCostMicros ? 'cost' : undefined;
};

interface Insertion {
  readonly run: LockedRun;
  readonly key: AttemptKey;
  readonly state: 'OPEN' | 'LOST';
  readonly context: AttemptRow['context'];
  readonly usage: Usage;
}

/** The row, its ledger entry and the totals, in one statement; undefined where the row is there already. */
const insertAttempt = async (
  { clock }: Session,
  trx: Trx,
  { run, key, state, context, usage }: Insertion,
): Promise<Ended | undefined> => {
  const { tenant, run: id } = run.ref;
  const before = replaceUsage(run.totals, NO_USAGE, usage);
  const totals: Totals = { ...before, attempts: before.attempts + 1 };
  const row = await trx
    .with('inserted', (db) =>
      db
        .insertInto('attempts')
        .values({
          tenant,
          run: id,
          step: key.step,
          attempt: key.attempt,
          state,
          context,
          opened_at: clock.now(),
          ended_at: state === 'OPEN' ? null : clock.now(),
        })
        .onConflict((conflict) => conflict.columns(['tenant', 'run', 'step', 'attempt']).doNothing())
        .returningAll(),
    )
    // There exactly where the row is: both are only ever inserted here.
    .with('entry', (db) =>
      db
        .insertInto('ledger')
        .values({
          tenant,
          run: id,
          reference: referenceOf(key),
          kind: 'attempt',
          is_open: state === 'OPEN',
          ...usageToColumns(usage),
        })
        .onConflict((conflict) => conflict.columns(['tenant', 'run', 'reference']).doNothing()),
    )
    .with('account', (db) =>
      db
        .updateTable('runs')
        .from('inserted')
        .set(totalsToColumns(totals))
        .where('runs.tenant', '=', tenant)
        .where('runs.run', '=', id),
    )
    .selectFrom('inserted')
    .selectAll()
    .executeTakeFirst();
  return row && { row: toAttemptRow(row, usage), totals };
};

const endAttempt = async (
  session: Session,
  trx: Trx,
  { run, key, end }: { readonly run: LockedRun; readonly key: AttemptKey; readonly end: End },
): Promise<Ended> => {
  const stored = await findAttempt(trx, key);
  if (stored === undefined)
    throw new RowMissing(`attempt ${String(key.step)}.${String(key.attempt)} of ${key.ref.run}`);
  const usage = wholeUsage(end.usage);
  switch (stored.state) {
    case 'OPEN': {
      const changes = { state: end.state, outcome: JSON.stringify(end.outcome), candidate: end.candidate ?? null };
      return moveAttempt(session, trx, { run, stored, usage, changes });
    }
    case 'LOST': {
      const moved = await moveAttempt(session, trx, { run, stored, usage, changes: {} });
      await noteEvents(session, trx, { run, notes: [toLateNote(key, end, stored.usage)] });
      return moved;
    }
    case 'STORED':
    case 'FAILED':
      return { row: stored, totals: run.totals };
  }
};

const collectAttempt = async (
  session: Session,
  trx: Trx,
  { run, attempt }: { readonly run: LockedRun; readonly attempt: Collecting },
): Promise<Ended> => {
  const key = { ...attempt, ref: run.ref };
  const stored = await findAttempt(trx, key);
  if (stored === undefined) {
    const usage = wholeUsage({ ...attempt.estimate, isEstimate: true });
    const lost = { run, key, state: 'LOST', context: attempt.context, usage } as const;
    return (await insertAttempt(session, trx, lost)) ?? missing(key);
  }
  if (stored.state !== 'OPEN') return { row: stored, totals: run.totals };
  return moveAttempt(session, trx, { run, stored, usage: stored.usage, changes: { state: 'LOST' } });
};

const missing = ({ ref, step, attempt }: AttemptKey): never => {
  throw new RowMissing(`attempt ${String(step)}.${String(attempt)} of ${ref.run}`);
};

interface Move {
  readonly run: LockedRun;
  readonly stored: AttemptRow;
  readonly usage: Usage;
  readonly changes: Partial<Pick<Selectable<AttemptsTable>, 'state' | 'candidate'>> & { readonly outcome?: string };
}

/** The row, its ledger entry and the totals, in one statement. */
const moveAttempt = async ({ clock }: Session, trx: Trx, { run, stored, usage, changes }: Move): Promise<Ended> => {
  const { tenant, run: id } = run.ref;
  const totals = replaceUsage(run.totals, stored.usage, usage);
  const row = await trx
    .with('entry', (db) =>
      db
        .updateTable('ledger')
        .set({ is_open: false, ...usageToColumns(usage) })
        .where('tenant', '=', tenant)
        .where('run', '=', id)
        .where('reference', '=', referenceOf(stored)),
    )
    .with('account', (db) =>
      db.updateTable('runs').set(totalsToColumns(totals)).where('tenant', '=', tenant).where('run', '=', id),
    )
    .updateTable('attempts')
    .set({ ...changes, ended_at: sql`coalesce(ended_at, ${clock.now()})` })
    .where('tenant', '=', tenant)
    .where('run', '=', id)
    .where('step', '=', stored.step)
    .where('attempt', '=', stored.attempt)
    .returningAll()
    .executeTakeFirst();
  return row === undefined ? missing(stored) : { row: toAttemptRow(row, usage), totals };
};

/** What an attempt that counts as lost has brought after all: kept, and never used as a candidate. */
const toLateNote = (key: AttemptKey, end: End, estimate: Usage) => ({
  eventId: `late:${referenceOf(key)}`,
  body: {
    kind: 'attemptLate',
    step: key.step,
    attempt: key.attempt,
    outcome: end.outcome,
    ...(end.candidate === undefined ? {} : { artifact: end.candidate }),
    usage: { ...end.usage },
    estimate: { ...estimate },
  },
});

const selectAttempts = (db: Db | Trx, { tenant, run }: RunRef, reference: RawBuilder<string>) =>
  db
    .selectFrom('attempts')
    .innerJoin('ledger', (join) =>
      join
        .onRef('ledger.tenant', '=', 'attempts.tenant')
        .onRef('ledger.run', '=', 'attempts.run')
        .on('ledger.reference', '=', reference),
    )
    .selectAll('attempts')
    .select(USAGE_COLUMNS)
    .where('attempts.tenant', '=', tenant)
    .where('attempts.run', '=', run);

const findAttempt = async (trx: Trx, { ref, step, attempt }: AttemptKey): Promise<AttemptRow | undefined> => {
  const row = await selectAttempts(trx, ref, sql`${referenceOf({ step, attempt })}::text`)
    .where('attempts.step', '=', step)
    .where('attempts.attempt', '=', attempt)
    .executeTakeFirst();
  return row && toAttemptRow(row, toUsage(row));
};

export const listAttempts = async (db: Db, ref: RunRef, range?: StepRange): Promise<readonly AttemptRow[]> => {
  const all = selectAttempts(db, ref, sql`'attempt:' || attempts.step || '.' || attempts.attempt`);
  const asked =
    range === undefined ? all : all.where('attempts.step', '>=', range.from).where('attempts.step', '<=', range.to);
  const rows = await asked.orderBy('attempts.step').orderBy('attempts.attempt').execute();
  return rows.map((row) => toAttemptRow(row, toUsage(row)));
};

const toUsage = (row: Usage): Usage => ({
  inputTokens: row.inputTokens,
  outputTokens: row.outputTokens,
  cacheReadTokens: row.cacheReadTokens,
  cacheWriteTokens: row.cacheWriteTokens,
  costMicros: row.costMicros,
  isEstimate: row.isEstimate,
});

const toAttemptRow = (row: Selectable<AttemptsTable>, usage: Usage): AttemptRow => ({
  ref: { tenant: row.tenant, run: row.run },
  step: row.step,
  attempt: row.attempt,
  state: row.state,
  context: row.context,
  usage,
  openedAt: row.opened_at,
  ...present({ candidate: row.candidate, outcome: row.outcome, endedAt: row.ended_at }),
});
