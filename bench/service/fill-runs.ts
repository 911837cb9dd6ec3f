/** Fills the store with ended runs: the row of one that did end, under other ids and earlier. Lists read no other table. */
import { Client } from 'pg';
import type { BenchStack } from '../stack/bench-stack';
import { countRows } from '../stack/count-rows';

const COPY = `insert into runs
select copy.* from runs template
cross join generate_series(1, $2::int) place
cross join lateral jsonb_populate_record(template, jsonb_build_object(
  'run', 'run_' || gen_random_uuid(), 'created_at', template.created_at - place * interval '1 second'
)) copy
where template.run = $1`;

/** Until the tenant has `total` runs. */
export const fillRuns = async (
  { postgres }: BenchStack,
  { tenant, run, total }: { readonly tenant: string; readonly run: string; readonly total: number },
): Promise<void> => {
  const there = await countRows({ postgres }, 'select count(*) from runs where tenant = $1', [tenant]);
  const client = new Client({ connectionString: postgres.url });
  await client.connect();
  try {
    await client.query(COPY, [run, Math.max(total - there, 0)]);
    await client.query('analyze runs');
  } finally {
    await client.end();
  }
};
