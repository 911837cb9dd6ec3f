/** What a run begins with that goes on where another has ended: last step, account and facts, in the start's transaction. */
import { sql } from 'kysely';
import type { NewRun } from '../rows';
import type { Session, Trx } from './connect';
import { lockRun } from './locked-run';
import { totalsToColumns } from './totals';

/** Nothing where the run that is named is not there. It has ended, so that nothing of it changes any more. */
export const carryOver = async (session: Session, trx: Trx, { ref, reopens }: NewRun): Promise<void> => {
  const { tenant, run } = ref;
  const old = await trx
    .selectFrom('runs')
    .select('step')
    .where('tenant', '=', tenant)
    .where('run', '=', reopens ?? run)
    .executeTakeFirst();
  if (reopens === undefined || old === undefined) return;
  const { totals } = await lockRun(trx, { tenant, run: reopens });
  await trx
    .with('entry', (db) =>
      db.insertInto('ledger').values({
        tenant,
        run,
        reference: `reopened:${reopens}`,
        kind: 'carried',
        is_open: false,
        // Part of it may be: `estimatedTokens` of the totals says how much.
        is_estimate: false,
        input_tokens: totals.inputTokens,
        output_tokens: totals.outputTokens,
        cache_read_tokens: totals.cacheReadTokens,
        cache_write_tokens: totals.cacheWriteTokens,
        cost_micros: totals.costMicros,
      }),
    )
    .updateTable('runs')
    .set({ step: old.step, ...totalsToColumns(totals) })
    .where('tenant', '=', tenant)
    .where('run', '=', run)
    .execute();
  await copyFacts(session, trx, { ref, reopens });
};

/**
 * Those that count there, under their own source, which names the run that it was of. Operations go on being numbered where
 * that run has stopped, so that their evidence (`E3.1`) is unambiguous; that of responses gets the run added (`W17.0@run_…`).
 */
const copyFacts = async (
  { clock }: Session,
  trx: Trx,
  { ref: { tenant, run }, reopens }: Pick<NewRun, 'ref'> & { readonly reopens: NonNullable<NewRun['reopens']> },
): Promise<void> => {
  await sql`
    insert into facts (tenant, run, source, index, step, ordinal, object, field, value, version, evidence, is_carried,
      recorded_at)
    select tenant, ${run}, source, index, step, ordinal, object, field, value, version,
      case when evidence like 'W%' and position('@' in evidence) = 0 then evidence || '@' || ${reopens} else evidence end,
      true, ${clock.now()}
    from facts
    where tenant = ${tenant} and run = ${reopens} and (
      is_carried
      or source in (select id from operations where tenant = ${tenant} and run = ${reopens} and is_named)
      or source in (select id from waits where tenant = ${tenant} and run = ${reopens} and state = 'CONSUMED')
    )`.execute(trx);
};
