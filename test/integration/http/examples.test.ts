/** The programs under examples/client, as processes of their own, against a real service, worker, database and Temporal. */
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { Connection } from '@temporalio/client';
import { z } from 'zod';
import { RESULT } from '../../../client/schemas/result';
import { signToken } from '../../../client/http/auth/verify-token';
import { setStage, type Stage } from '../../support/scenario/stage';

const ROOT = join(__dirname, '..', '..', '..');
const FOLDER = join(ROOT, 'examples/client');

let stage: Stage;
beforeAll(async () => {
  stage = await setStage({ isServiceStarted: true });
});
afterEach(() => stage.checkAndReset());
afterAll(() => stage.close());

type Environment = Readonly<Record<string, string>>;

const run = (file: string, environment: Environment, ...given: readonly string[]) =>
  spawn(
    process.execPath,
    ['-r', join(ROOT, 'test/support/ts-register.cjs'), join(FOLDER, file), ...given],
    // Nothing of this process's own environment decides what they do.
    {
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );

const EXIT = z.tuple([z.int(), z.null()]);

const endOf = async (child: ReturnType<typeof run>) => {
  const exited = once(child, 'exit');
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { out, err, code: EXIT.parse(await exited)[0] };
};

test('a script starts a run and waits for its result; called again it reads that of the same run', async () => {
  const caller = { tenant: stage.tenant, subject: 'alice', roles: ['operator', 'agent-operator'] };
  const token = await signToken({ secret: stage.tokenSecret }, caller, new Date(Date.now() + 600_000));
  const environment = { HOLDFAST_URL: stage.services[0]?.url ?? '', HOLDFAST_TOKEN: token };

  const first = await endOf(run('start-and-wait.ts', environment, 'T100'));
  expect(first).toMatchObject({ code: 0, err: expect.stringContaining('→ SUCCEEDED') });
  const result = RESULT.parse(JSON.parse(first.out));
  expect(result).toMatchObject({ terminal: 'SUCCEEDED', answer: expect.stringContaining('T100') });
  expect(await stage.desk.effects()).toHaveLength(1);

  const again = await endOf(run('start-and-wait.ts', environment, 'T100'));
  expect(again.code).toBe(0);
  expect(JSON.parse(again.out)).toEqual(result);

  const stranger = await endOf(run('start-and-wait.ts', { ...environment, HOLDFAST_TOKEN: 'x' }, 'T100'));
  expect(stranger).toMatchObject({ code: 1, out: '', err: expect.stringContaining('token') });
  expect(await stage.desk.effects()).toHaveLength(1);
});

const SHOWN = z.object({ run: z.string(), state: z.string(), answer: z.string().optional() });

test('a service that embeds the client starts one run for each key, and shows it to its end', async () => {
  const { connection, options } = stage.temporal;
  if (!(connection instanceof Connection)) throw new Error('the stage has no connection of its own');
  const child = run('embedded-service.ts', {
    DATABASE_URL: stage.database.url,
    TEMPORAL_ADDRESS: connection.options.address,
    TEMPORAL_NAMESPACE: options.namespace,
    HOLDFAST_TASK_QUEUE: stage.taskQueue,
    HOLDFAST_TENANT: stage.tenant,
    PORT: '0',
  });
  try {
    const lines = once(createInterface({ input: child.stdout }), 'line', { signal: AbortSignal.timeout(30_000) });
    const [url] = z.tuple([z.url()]).parse(await lines);
    const start = (ticket: string, key?: string): Promise<Response> =>
      fetch(`${url}/tickets/${ticket}/triage`, {
        method: 'POST',
        headers: key === undefined ? {} : { 'Idempotency-Key': key },
      });

    const [one, other] = await Promise.all([start('T100', 'k-1'), start('T100', 'k-1')]);
    expect([one.status, other.status]).toEqual([202, 202]);
    expect(one.headers.get('Location')).toBe(other.headers.get('Location'));
    expect((await start('T200', 'k-1')).status).toBe(409);
    expect((await start('T100')).status).toBe(400);

    const path = one.headers.get('Location') ?? '';
    const shown = await stage.until(
      async () => SHOWN.parse(await (await fetch(url + path)).json()),
      ({ answer }) => answer !== undefined,
    );
    expect(shown).toMatchObject({ state: 'SUCCEEDED', answer: expect.stringContaining('T100') });
    expect(await stage.desk.effects()).toHaveLength(1);
    expect((await fetch(url + path.replace('T100', 'T200'))).status).toBe(404);
    expect((await fetch(`${url}/tickets/T100/triage/run_abcdef00`)).status).toBe(404);
  } finally {
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    expect(EXIT.parse(await exited)[0]).toBe(0);
  }
});

test('what their README shows is what they say', () => {
  const read = (file: string): string => readFileSync(join(FOLDER, file), 'utf8');
  const programs = `${read('start-and-wait.ts')}\n${read('embedded-service.ts')}`;
  const snippets = [...read('README.md').matchAll(/```ts\n([\s\S]*?)```/g)].flatMap(([, code = '']) =>
    code.split('\n').filter((line) => line.trim() !== ''),
  );
  expect(snippets.length).toBeGreaterThan(0);
  for (const line of snippets) expect(programs).toContain(line);
});
