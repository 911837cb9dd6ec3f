/** Live text: one row for each run that speaks or spoke last, overwritten by its next attempt. */
import { sql } from 'kysely';
import type { LiveTextStore } from '../reader';
import type { Session } from './connect';
import { decodeText, encodeText } from './text';

/** What is longer is cut: the candidate holds all of it. */
const MAX_LIVE_CHARACTERS = 60_000;

export const createLiveTextStore = ({ db, clock }: Session): LiveTextStore => ({
  add: async ({ tenant, run }, { step, attempt, texts }) => {
    const characters = texts.reduce((sum, text) => sum + text.length, 0);
    await sql`
      insert into live_text as live (tenant, run, step, attempt, texts, characters, updated_at)
      values (${tenant}, ${run}, ${step}, ${attempt}, ${texts.map(encodeText)}::text[], ${characters}, ${clock.now()})
      on conflict (tenant, run) do update set
        step = excluded.step,
        attempt = excluded.attempt,
        texts = case when (live.step, live.attempt) = (excluded.step, excluded.attempt)
          then live.texts || excluded.texts else excluded.texts end,
        characters = case when (live.step, live.attempt) = (excluded.step, excluded.attempt)
          then live.characters + excluded.characters else excluded.characters end,
        updated_at = excluded.updated_at
      where (live.step, live.attempt) < (excluded.step, excluded.attempt)
        or ((live.step, live.attempt) = (excluded.step, excluded.attempt)
          and live.characters + excluded.characters <= ${MAX_LIVE_CHARACTERS})`.execute(db);
  },
  read: async ({ tenant, run }, after) => {
    const isSame = sql`(step, attempt) = (${after?.step ?? 0}::integer, ${after?.attempt ?? 0}::integer)`;
    const from = sql<number>`case when ${isSame} then ${after?.index ?? 0}::integer else 0 end`;
    const { rows } = await sql<{
      readonly step: number;
      readonly attempt: number;
      readonly from: number;
      readonly texts: readonly string[];
      readonly isVoid: boolean;
    }>`
      select step, attempt, ${from} as "from", texts[${from} + 1:] as texts,
        coalesce(attempts.state in ('FAILED', 'LOST'), false) as "isVoid"
      from live_text left join attempts using (tenant, run, step, attempt)
      where tenant = ${tenant} and run = ${run}`.execute(db);
    const [row] = rows;
    return row && { ...row, texts: row.texts.map(decodeText) };
  },
  forget: async (olderThanMs) => {
    await sql`delete from live_text where updated_at < ${clock.inMs(-olderThanMs)}`.execute(db);
  },
});
