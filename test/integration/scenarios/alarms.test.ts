/** What nobody can help but us: the run stops where it is, loudly and without haste, and goes on once it is mended. */
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { Client as Postgres } from 'pg';
import { toNewRun } from '../../../client/start-request';
import type { AgentRunInput } from '../../../workflows/contract/activities';
import { parseRunId, parseTenantId } from '../../../workflows/contract/ids';
import { AGENT_RUN, SIGNALS } from '../../../workflows/contract/messages';
import { setStage, type Stage } from '../../support/scenario/stage';

let stage: Stage;
beforeAll(async () => {
  stage = await setStage();
});
afterEach(() => stage.checkAndReset());
afterAll(() => stage.close());

const WATCHED_MS = 6_000;
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, WATCHED_MS));

const inDatabase = async <T>(work: (client: Postgres) => Promise<T>): Promise<T> => {
  const client = new Postgres({ connectionString: stage.database.url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
};

interface Failure {
  readonly applicationFailureInfo?: { readonly type?: string | null } | null;
  readonly cause?: Failure | null;
}

/** From the outermost to the first cause. */
const typesOf = (failure: Failure | null | undefined): readonly string[] =>
  failure === null || failure === undefined
    ? []
    : [failure.applicationFailureInfo?.type ?? '', ...typesOf(failure.cause)];

test('a run without a row fails its workflow task, without a hot loop, and begins once the row is there', async () => {
  const caller = { tenant: stage.tenant, subject: 'alice', roles: ['agent-operator'] };
  const request = { agent: 'tickets', goal: 'Read ticket T100, reassign it.', data: { ticket: 'T100' } };
  const asked = toNewRun(caller, request, 'a-run-without-a-row');
  const input: AgentRunInput = { schemaVersion: 1, ref: asked.ref, agent: 'tickets' };
  const handle = await stage.temporal.workflow.start(AGENT_RUN, {
    workflowId: asked.ref.run,
    taskQueue: stage.taskQueue,
    args: [input],
  });

  await pause();

  const { status, raw } = await handle.describe();
  expect(status.name).toBe('RUNNING');
  const attempts = raw.pendingWorkflowTask?.attempt ?? 0;
  expect(attempts).toBeGreaterThan(1);
  expect(attempts).toBeLessThan(12);
  const failures = (await handle.fetchHistory()).events?.flatMap(
    (event) => event.workflowTaskFailedEventAttributes?.failure ?? [],
  );
  expect(failures).toHaveLength(1);
  expect(typesOf(failures?.[0])).toContain('run.missing');

  const { row } = await stage.store.runs.start(asked);
  expect(await stage.end(row, 60_000)).toMatchObject({ terminal: 'SUCCEEDED' });
});

test('an activity that meets a row that is gone stays pending with its failure, tried ever more rarely', async () => {
  const run = await stage.start({ agent: 'tickets-approval' });
  const [wait] = await stage.until(
    () => stage.store.waits.list(parseTenantId(stage.tenant), { run: run.ref.run, state: 'OPEN', limit: 9 }),
    (waits) => waits.length === 1,
  );
  if (wait === undefined) throw new Error('no wait');
  const handle = stage.temporal.workflow.getHandle(run.ref.run);
  await inDatabase((client) => client.query('create table taken as select * from waits'));
  await inDatabase((client) => client.query('delete from waits where run = $1', [run.ref.run]));
  await handle.signal(SIGNALS.respond, { wait: wait.id });

  await pause();

  const [pending] = (await handle.describe()).raw.pendingActivities ?? [];
  expect(pending?.lastFailure?.applicationFailureInfo?.type).toBe('store.missing');
  expect(pending?.attempt).toBeGreaterThan(1);
  expect(pending?.attempt).toBeLessThan(4);

  await inDatabase((client) => client.query('insert into waits select * from taken'));
  await inDatabase((client) => client.query('drop table taken'));
  await stage.runs.cancel(stage.tenant, parseRunId(run.ref.run));
  expect(await stage.end(run, 60_000)).toMatchObject({ terminal: 'CANCELLED' });
});
