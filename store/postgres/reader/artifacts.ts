/** Which artifacts are a run's own, and parts of them. */
import { sql } from 'kysely';
import type { ReaderStore } from '../../reader';
import type { Db } from '../connect';

export const createArtifactReader = (db: Db): Pick<ReaderStore, 'names' | 'artifactPart'> => ({
  names: async ({ tenant, run }, hash) => {
    const ofRun = sql`tenant = ${tenant} and run = ${run}`;
    const { rows } = await sql<{ readonly isNamed: boolean }>`select (
      exists (select from runs where ${ofRun} and definition = ${hash})
      or exists (select from attempts where ${ofRun} and ${hash} in (context, candidate))
      or exists (select from operations where ${ofRun} and ${hash} in (arguments, raw, output, failure))
      or exists (select from waits where ${ofRun} and plan = ${hash})
      or exists (select from results where ${ofRun} and artifact = ${hash})
      or exists (select from inbox where ${ofRun} and body = ${hash})
      or exists (select from journal where ${ofRun} and ${hash} in
        (body #>> '{cause,finding}', body #>> '{cause,answer}', body #>> '{artifact}', body #>> '{candidate}'))
    ) as "isNamed"`.execute(db);
    return rows[0]?.isNamed ?? false;
  },
  artifactPart: async (tenant, hash, { offset, limit }) => {
    const { rows } = await sql<{ readonly bytes: Buffer; readonly mediaType: string; readonly sizeBytes: number }>`
      select substring(bytes from ${offset + 1}::integer for ${limit}::integer) as bytes,
        media_type as "mediaType", octet_length(bytes) as "sizeBytes"
      from artifacts where tenant = ${tenant} and hash = ${hash}`.execute(db);
    return rows[0];
  },
});
