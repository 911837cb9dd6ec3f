/** Verdicts of validators and policies: insert-once by what was judged, so that judging again gives what is stored. */
import { createHash } from 'node:crypto';
import type { Selectable } from 'kysely';
import type { RunRef } from '../../workflows/contract/records';
import type { DecisionRow } from '../rows';
import type { DecisionStore } from '../store';
import { present } from './columns';
import type { Db, Session } from './connect';
import { canonicalJson } from './json';
import type { DecisionsTable } from './schema';

type StoredDecision = DecisionRow & { readonly id: string };

export const createDecisionStore = (session: Session): DecisionStore => ({
  record: (ref, decisions) => recordDecisions(session, ref, decisions),
  list: async (ref, step) => {
    const all = selectDecisions(session, ref).orderBy('step').orderBy('entry');
    const rows = await (step === undefined ? all : all.where('step', '=', step)).execute();
    return rows.map(toDecisionRow);
  },
});

const recordDecisions = async (
  session: Session,
  ref: RunRef,
  decisions: readonly DecisionRow[],
): Promise<readonly StoredDecision[]> => {
  if (decisions.length === 0) return [];
  const keyed = withIds(ref, decisions);
  const created = await insertDecisions(session, session.db, { ref, decisions }).returningAll().execute();
  const ids = keyed.map(({ id }) => id);
  const steps = [...new Set(decisions.map((decision) => decision.step))];
  const isNew = created.length === decisions.length;
  const rows = isNew
    ? created
    : await selectDecisions(session, ref).where('step', 'in', steps).where('id', 'in', ids).execute();
  const stored = new Map(rows.map((row) => [row.id, toDecisionRow(row)]));
  return ids.flatMap((id) => stored.get(id) ?? []);
};

export const insertDecisions = (
  session: Pick<Session, 'clock'>,
  db: Pick<Db, 'insertInto'>,
  { ref, decisions }: { readonly ref: RunRef; readonly decisions: readonly DecisionRow[] },
) =>
  db
    .insertInto('decisions')
    .values(withIds(ref, decisions).map((keyed) => toColumns(session, ref, keyed)))
    .onConflict((conflict) => conflict.columns(['tenant', 'run', 'step', 'id']).doNothing());

const withIds = (ref: RunRef, decisions: readonly DecisionRow[]) =>
  decisions.map((decision) => ({ id: idOf(ref, decision), decision }));

/** `decision_` and a hash of the key: the same on every worker that judges again. */
const idOf = ({ run }: RunRef, decision: DecisionRow): string => {
  const { step, attempt, ordinal, validator, phase, inputHash } = decision;
  const key = canonicalJson([run, step, attempt, ordinal, validator, phase, decision.try, inputHash]);
  return `decision_${createHash('sha256').update(key).digest('hex').slice(0, 32)}`;
};

const toColumns = (
  { clock }: Pick<Session, 'clock'>,
  { tenant, run }: RunRef,
  { id, decision }: { readonly id: string; readonly decision: DecisionRow },
) => ({
  tenant,
  run,
  id,
  step: decision.step,
  attempt: decision.attempt,
  ordinal: decision.ordinal,
  validator: decision.validator,
  validator_version: decision.validatorVersion,
  phase: decision.phase,
  try: decision.try,
  input_hash: decision.inputHash,
  verdict: decision.verdict,
  code: decision.code ?? null,
  evidence: JSON.stringify(decision.evidence),
  decided_at: clock.now(),
});

const selectDecisions = ({ db }: Session, { tenant, run }: RunRef) =>
  db.selectFrom('decisions').selectAll().where('tenant', '=', tenant).where('run', '=', run);

export const toDecisionRow = (row: Selectable<DecisionsTable>): StoredDecision => ({
  id: row.id,
  step: row.step,
  attempt: row.attempt,
  ordinal: row.ordinal,
  validator: row.validator,
  validatorVersion: row.validator_version,
  phase: row.phase,
  try: row.try,
  inputHash: row.input_hash,
  verdict: row.verdict,
  evidence: row.evidence,
  ...present({ code: row.code }),
});
