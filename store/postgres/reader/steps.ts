/** Steps of one run, range by range: each read goes by the key, of which the number of the step is a part. */
import { sql } from 'kysely';
import type { RunRef } from '../../../workflows/contract/records';
import { isUnproved, OPERATION_STATES } from '../../../workflows/machine/operation-transitions';
import type { ReaderStore, StepRange } from '../../reader';
import { listAttempts } from '../attempts';
import type { Db } from '../connect';
import { toDecisionRow } from '../decisions';
import { toOperationRow } from '../operation-row';

type StepReader = Pick<ReaderStore, 'stepSpan' | 'stepRecords' | 'lastCandidate' | 'unproved'>;

const UNPROVED = OPERATION_STATES.filter(isUnproved);

export const createStepReader = (db: Db): StepReader => ({
  stepSpan: async ({ tenant, run }) => {
    const ofRun = sql`tenant = ${tenant} and run = ${run}`;
    const { rows } = await sql<{ readonly first: number | null; readonly last: number | null }>`select
      least((select min(step) from attempts where ${ofRun}), (select min(step) from operations where ${ofRun}),
        (select min(step) from decisions where ${ofRun})) as first,
      greatest((select max(step) from attempts where ${ofRun}), (select max(step) from operations where ${ofRun}),
        (select max(step) from decisions where ${ofRun})) as last`.execute(db);
    const { first, last } = rows[0] ?? { first: null, last: null };
    return first === null || last === null ? undefined : { first, last };
  },
  stepRecords: async (ref, range) => {
    const [attempts, decisions, operations] = await Promise.all([
      listAttempts(db, ref, range),
      selectOfSteps(db, ref, range).decisions.execute(),
      selectOfSteps(db, ref, range).operations.execute(),
    ]);
    return { attempts, decisions: decisions.map(toDecisionRow), operations: operations.map(toOperationRow) };
  },
  lastCandidate: async ({ tenant, run }) => {
    const row = await db
      .selectFrom('attempts')
      .select('candidate')
      .where('tenant', '=', tenant)
      .where('run', '=', run)
      .where('candidate', 'is not', null)
      .orderBy('step', 'desc')
      .orderBy('attempt', 'desc')
      .limit(1)
      .executeTakeFirst();
    return row?.candidate ?? undefined;
  },
  unproved: async ({ tenant, run }) => {
    const rows = await db
      .selectFrom('operations')
      .selectAll()
      .where('tenant', '=', tenant)
      .where('run', '=', run)
      .where('effect', '=', 'write')
      .where('state', 'in', UNPROVED)
      .orderBy('step')
      .orderBy('ordinal')
      .execute();
    return rows.map(toOperationRow);
  },
});

const selectOfSteps = (db: Db, { tenant, run }: RunRef, { from, to }: StepRange) => {
  const ofSteps = sql<boolean>`tenant = ${tenant} and run = ${run} and step between ${from} and ${to}`;
  return {
    decisions: db.selectFrom('decisions').selectAll().where(ofSteps).orderBy('step').orderBy('entry'),
    operations: db.selectFrom('operations').selectAll().where(ofSteps).orderBy('step').orderBy('ordinal'),
  };
};
