/** What judging a candidate leaves behind, in one statement. Both tables are insert-once; a judge that comes later reads back. */
import { sql } from 'kysely';
import type { RunRef } from '../../workflows/contract/records';
import type { JudgementStore, NewJudgement } from '../judgements';
import type { OperationRow } from '../rows';
import { insertArtifactsOf } from './artifacts';
import type { Session } from './connect';
import { insertDecisions } from './decisions';
import { insertOperations, readCreated } from './operations';

export const createJudgementStore = (session: Session): JudgementStore => ({
  record: (ref, judgement) => recordJudgement(session, ref, judgement),
});

const recordJudgement = async (
  session: Session,
  ref: RunRef,
  { decisions, operations, artifacts }: NewJudgement,
): Promise<readonly OperationRow[]> => {
  const stored = session.db.with('stored', () => insertArtifactsOf(session, ref.tenant, artifacts));
  const judged =
    decisions.length === 0 ? stored : stored.with('judged', (cte) => insertDecisions(session, cte, { ref, decisions }));
  if (operations.length === 0) {
    await judged.selectNoFrom(sql`1`.as('one')).execute();
    return [];
  }
  const created = await judged
    .with('created', (cte) => insertOperations(session, cte, operations))
    .selectFrom('created')
    .selectAll()
    .execute();
  return readCreated(session, ref, { operations, created });
};
