/**
 * Words and secrets that are easy to find, and every place where they must not be: Temporal (histories, memos, search
 * attributes, what is seen of a run while it goes on), the figures, the logs, and whatever is sent to a collector of traces.
 */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { signToken } from '../../../client/http/auth/verify-token';
import type { RunRow } from '../../../store/rows';
import { effectsOf } from '../../support/scenario/effects';
import { startMeteredWorker, type MeteredWorker } from '../../support/http/metered-worker';
import { readExecutions } from '../../support/scenario/histories';
import { createPeople, type People } from '../../support/scenario/people';
import { setStage, type Stage } from '../../support/scenario/stage';

/** What people and models say, what tools are sent, and what a worker is given to keep. */
const SAID = {
  goal: 'CANARY-goal-51c2',
  data: 'CANARY-data-51c2',
  denial: 'CANARY-denial-51c2',
  key: 'CANARY-key-51c2',
};
const SECRETS = {
  ANTHROPIC_API_KEY: 'CANARY-model-key-9d07',
  HOLDFAST_TOKEN_KEY: Buffer.from('CANARY-token-key-9d07-of-32-bytes!').toString('base64'),
};
/** The reassignment's argument. */
const ARGUMENT = 'payments-oncall';

let stage: Stage;
let people: People;
let worker: MeteredWorker;
/** All that Temporal said of the runs while they went on. */
let seen = '';
let collectorConnections = 0;
const collector = createServer((socket) => {
  collectorConnections += 1;
  socket.destroy();
});
const runs: RunRow[] = [];
const answers: string[] = [];

beforeAll(async () => {
  stage = await setStage({ isWorkerStarted: false, isServiceStarted: true });
  people = await createPeople(stage);
  collector.listen(0, '127.0.0.1');
  await once(collector, 'listening');
  const address = collector.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  worker = await startMeteredWorker(stage, {
    ...SECRETS,
    HOLDFAST_LOG_LEVEL: 'trace',
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${String(port)}`,
    OTEL_TRACES_EXPORTER: 'otlp',
  });
  const denied = await start('tickets-approval');
  await people.answer(await people.asked(denied, 'approval'), { decision: 'deny', reason: SAID.denial });
  await endWatched(denied);
  // Not before: it leaves nothing to ask about.
  const done = await start('tickets');
  await endWatched(done);
});
afterAll(async () => {
  collector.close();
  await worker.kill();
  await stage.close();
});

const start = async (agent: string): Promise<RunRow> => {
  const goal = `Reassign T100 by the on-call rules. ${SAID.goal}`;
  const data = { ticket: 'T100', canary: SAID.data };
  const run = await stage.start({ agent, goal, data, idempotencyKey: `${SAID.key}-${agent}` });
  runs.push(run);
  return run;
};

const endWatched = async (run: RunRow): Promise<void> => {
  const handle = stage.temporal.workflow.getHandle(run.ref.run);
  await stage.until(
    async () => {
      seen += textIn((await handle.describe()).raw);
      return stage.runs.get(stage.tenant, run.ref.run);
    },
    ({ terminal }) => terminal !== undefined,
    60_000,
  );
  seen += textIn((await handle.describe()).raw);
  answers.push((await stage.runs.result(stage.tenant, run.ref.run))?.answer ?? '');
};

/** All text in it, that of payloads included. */
const textIn = (value: unknown): string => {
  if (typeof value === 'string') return `${value}\n`;
  if (value instanceof Uint8Array) return `${Buffer.from(value).toString()}\n`;
  if (typeof value !== 'object' || value === null) return '';
  return Object.entries(value)
    .map(([key, each]) => `${key}\n${textIn(each)}`)
    .join('');
};

/** Each place, with something that shows that it was really looked at. */
const PLACES: readonly (readonly [place: string, read: () => Promise<string>, has: () => string])[] = [
  [
    'the histories',
    async () => {
      const executions = await Promise.all(runs.map(({ ref }) => readExecutions(stage.temporal, ref.run)));
      return executions
        .flat()
        .map(({ history }) => textIn(history))
        .join('');
    },
    () => runs[0]?.ref.run ?? '',
  ],
  ['memos, search attributes and what is pending', () => Promise.resolve(seen), () => 'HoldfastState'],
  [
    'the list of workflows',
    async () => {
      const asked = runs.map(({ ref }) => `WorkflowId = "${ref.run}"`).join(' OR ');
      const listed = await stage.until(
        async () => {
          const found: unknown[] = [];
          for await (const { raw } of stage.temporal.workflow.list({ query: asked })) found.push(raw);
          return found;
        },
        (found) => found.length === runs.length,
      );
      return textIn(listed);
    },
    () => runs[1]?.ref.run ?? '',
  ],
  ["the worker's figures", () => worker.scrape(), () => 'activity_type="dispatch"'],
  [
    "the service's figures",
    async () => {
      const url = stage.services[0]?.url ?? '';
      const token = await signToken(
        { secret: stage.tokenSecret },
        { tenant: stage.tenant, subject: 'vera', roles: ['viewer'] },
        new Date(Date.now() + 60_000),
      );
      const headers = { Authorization: `Bearer ${token}` };
      const listed = await fetch(`${url}/v1/runs?search=${SAID.goal}`, { headers });
      expect(await listed.text()).toContain(SAID.goal);
      const body = JSON.stringify({ agent: 'tickets', ...SAID });
      const posted = { method: 'POST', headers: { ...headers, 'Content-Type': 'application/json' }, body };
      expect((await fetch(`${url}/v1/runs`, posted)).status).toBe(403);
      return (await fetch(`${url}/metrics`)).text();
    },
    () => 'route="/v1/runs"',
  ],
  ["the worker's log", () => Promise.resolve(worker.log()), () => runs[0]?.ref.run ?? ''],
  ["the service's log", () => Promise.resolve(stage.serviceLog()), () => '"status":403'],
];

describe('canaries', () => {
  beforeEach(() => {
    expect(answers[0]).toContain(SAID.denial);
    expect(answers[1]).toContain(ARGUMENT);
  });

  test('went where they belong: to the model and to the desk', async () => {
    const asked = stage.model.requests.map(({ body }) => body).join('\n');
    for (const said of [SAID.goal, SAID.data, SAID.denial, ARGUMENT]) expect(asked).toContain(said);
    expect(await effectsOf(stage)).toEqual([{ kind: 'reassign', ticket: 'T100', args: { team: ARGUMENT } }]);
  });

  test.each(PLACES)('are not in %s', async (_place, read, has) => {
    const text = await read();
    expect(text).toContain(has());
    const kept = [
      ...Object.values(SECRETS),
      stage.tokenSecret,
      Buffer.from(SECRETS.HOLDFAST_TOKEN_KEY, 'base64').toString(),
    ];
    const found = [...Object.values(SAID), ...kept, ARGUMENT, ...answers].filter((canary) => text.includes(canary));
    expect(found).toEqual([]);
  });

  test('are in no trace: none is sent, also where the environment names a collector', () => {
    expect(collectorConnections).toBe(0);
  });
});
