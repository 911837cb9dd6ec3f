import type { Selectable } from 'kysely';
import type { RunRow } from '../rows';
import { present } from './columns';
import type { RunsTable } from './schema';

export const toRunRow = (row: Selectable<RunsTable>): RunRow => ({
  ref: { tenant: row.tenant, run: row.run },
  agent: row.agent,
  principal: row.principal,
  task: row.task,
  bodyHash: row.body_hash,
  state: row.state,
  seq: row.seq,
  step: row.step,
  planVersion: row.plan_version,
  createdAt: row.created_at,
  ...present({
    limits: row.limits,
    extension: row.extension,
    reopens: row.reopens,
    follows: row.follows,
    definition: row.definition,
    terminal: row.terminal,
    reason: row.reason,
    openedAt: row.opened_at,
    deadlineAt: row.deadline_at,
    endedAt: row.ended_at,
    cancelRequestedAt: row.cancel_requested_at,
  }),
});
