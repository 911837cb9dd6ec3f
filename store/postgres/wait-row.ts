import type { Selectable } from 'kysely';
import type { WaitRow } from '../rows';
import { mapPresent, present } from './columns';
import type { WaitsTable } from './schema';
import { decodeText } from './text';

export const toWaitRow = (row: Selectable<WaitsTable>): WaitRow => ({
  id: row.id,
  ref: { tenant: row.tenant, run: row.run },
  kind: row.kind,
  seq: row.seq,
  planVersion: row.plan_version,
  plan: row.plan,
  responseSchema: row.response_schema,
  expiresInMs: row.expires_in_ms,
  state: row.state,
  openedAt: row.opened_at,
  expiresAt: row.expires_at,
  ...present({
    operation: row.operation,
    reason: row.reason,
    response: row.response,
    responseId: mapPresent(row.response_id, decodeText),
  }),
});
