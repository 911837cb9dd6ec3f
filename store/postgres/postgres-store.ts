/** The store on PostgreSQL. Its laws are in `store/store.ts`; the schema has to be there (`migrate`). */
import { sql } from 'kysely';
import type { Store } from '../store';
import { createArtifactStore } from './artifacts';
import { createAttemptStore } from './attempts';
import { connect, type PostgresOptions } from './connect';
import { createDecisionStore } from './decisions';
import { createFactStore } from './facts';
import { createInboxStore } from './inbox';
import { createJudgementStore } from './judgements';
import { createJournalStore } from './journal';
import { createLedgerStore } from './ledger';
import { createLiveTextStore } from './live-text';
import { createOperationStore } from './operations';
import { createReaderStore } from './reader';
import { createRunRecords } from './run-records';
import { createRunStore } from './runs';
import { createWaitStore } from './waits';
import { createWakeStore } from './wakes';

/** Opens no connection until it is asked for something. Close it to let the process end. */
export const createPostgresStore = (options: PostgresOptions): Store => {
  const session = connect(options);
  const records = createRunRecords(session);
  return {
    runs: createRunStore(session),
    journal: createJournalStore(session),
    artifacts: createArtifactStore(session),
    attempts: createAttemptStore(session),
    decisions: createDecisionStore(session),
    judgements: createJudgementStore(session),
    operations: createOperationStore(session, records),
    facts: createFactStore(records),
    waits: createWaitStore(session),
    ledger: createLedgerStore(session),
    wakes: createWakeStore(session),
    inbox: createInboxStore(session),
    reader: createReaderStore(session.db),
    liveText: createLiveTextStore(session),
    ping: async () => {
      await sql`select 1`.execute(session.db);
    },
    close: () => session.db.destroy(),
  };
};
