/** Reads against a real desk and a real database. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { ActivityCancellationDetails } from '@temporalio/common';
import { z } from 'zod';
import { FAILURE, QUESTION } from '../../../activities/context/artifact-shapes';
import { readArtifact } from '../../../activities/context/read-artifact';
import { defineTool } from '../../../definition/tool';
import { ToolError } from '../../../definition/tool-error';
import { openOperateStage, regular, ticketsAgent, type OperateStage } from '../../support/operate/operate-stage';

let stage: OperateStage;
beforeAll(async () => {
  stage = await openOperateStage();
});
afterEach(() => stage.reset());
afterAll(() => stage.close());

const GET = { tool: 'get_ticket', args: { ticket: 'T100' } } as const;

const asked = async (): Promise<number> => (await stage.desk.requests()).length;

test('a result is stored with its facts, its evidence, its body and its hash', async () => {
  const run = await stage.begin();
  const call = await run.proposeOne(GET);

  const outcome = await call.readShort();

  const row = await call.row();
  expect(row).toMatchObject({ state: 'SUCCEEDED', evidence: 'E1.1' });
  expect(outcome).toEqual({ result: row.resultHash?.slice(0, 16) });
  expect(await run.facts()).toContainEqual(
    expect.objectContaining({
      object: 'ticket:T100',
      field: 'team',
      value: 'frontend',
      version: '3',
      evidence: 'E1.1',
    }),
  );
  const output = row.output && (await stage.store.artifacts.getJson(run.ref.tenant, row.output));
  expect(output).toMatchObject({ id: 'T100', version: 3 });
});

test('read again it is the stored result, without asking the desk', async () => {
  const run = await stage.begin();
  const call = await run.proposeOne(GET);

  const first = await call.readShort();
  const again = await call.readShort();

  expect(again).toEqual(first);
  expect(await asked()).toBe(1);
});

test('two workers at once: the first stored result is what both tell', async () => {
  const run = await stage.begin();
  const call = await run.proposeOne(GET);
  await stage.desk.addFault({ match: { route: 'get_ticket' }, fault: { kind: 'slow', delayMs: 200 } });

  const [one, other] = await Promise.all([
    call.readShort(),
    stage.desk.putTicket({ id: 'T100', title: 'Changed' }).then(() => call.readShort()),
  ]);

  expect(one).toEqual(other);
  expect(
    (await run.facts()).filter(({ object, field }) => object === 'ticket:T100' && field === 'version'),
  ).toHaveLength(1);
});

test('the same facts and output have the same hash, whatever volatile fields say', async () => {
  let calls = 0;
  const clock = defineTool({
    name: 'get_status',
    description: 'Reads a status.',
    inputSchema: z.object({}),
    outputSchema: z.object({ status: z.string(), requestId: z.string() }),
    effect: 'read',
    risk: 'low',
    volatileFields: ['requestId'],
    execute: () => Promise.resolve({ kind: 'done', output: { status: 'green', requestId: String((calls += 1)) } }),
  });
  const agent = ticketsAgent(stage.deskUrl);
  const run = await stage.begin({ agents: [{ ...agent, tools: [...agent.tools, clock] }] });
  const [one, other] = await run.propose({ tool: 'get_status', args: {} }, { tool: 'get_status', args: {} });

  const first = await one?.readShort();
  const second = await other?.readShort();

  expect(calls).toBe(2);
  expect(first?.result).toBe(second?.result);
});

describe('what goes wrong', () => {
  test('nothing there: told as NOT_FOUND, with what may be tried', async () => {
    const run = await stage.begin();
    const call = await run.proposeOne({ tool: 'get_ticket', args: { ticket: 'T999' } });

    expect(await call.readShort()).toMatchObject({ code: 'NOT_FOUND' });
    const { failure } = await call.row();
    const told = failure && (await readArtifact(stage.store, { tenant: run.ref.tenant, hash: failure }, FAILURE));
    expect(told).toMatchObject({ code: 'NOT_FOUND', evidence: ['E1.1'] });
    expect(told?.recoveries.length).toBeGreaterThan(0);
  });

  test('A11: several matches: a question that lists them, asked again the same', async () => {
    const run = await stage.begin();
    const call = await run.proposeOne({ tool: 'search_tickets', args: { text: 'login broken', expect: 'one' } });

    const outcome = await call.readShort();
    const again = await call.readShort();

    expect(outcome).toMatchObject({ code: 'OBJECT_AMBIGUOUS' });
    expect(again).toEqual(outcome);
    if (outcome.question === undefined) throw new Error('no question');
    const question = await readArtifact(stage.store, { tenant: run.ref.tenant, hash: outcome.question }, QUESTION);
    expect(question).toMatchObject({
      askedBy: 'runtime',
      candidates: ['ticket:T101', 'ticket:T102'],
      responseSchema: { properties: { choice: { enum: ['ticket:T101', 'ticket:T102'] } }, required: ['choice'] },
    });
    expect(question.question).toContain('ticket:T102: Login broken');
  });

  test('a body that is no ticket is our own fault to find', async () => {
    await stage.desk.addFault({
      match: { route: 'get_ticket' },
      fault: { kind: 'body', content: { text: '{"id":7}' } },
    });
    const run = await stage.begin();
    const call = await run.proposeOne(GET);

    expect(await call.readShort()).toMatchObject({ code: 'TOOL_FAULT' });
    expect(await call.row()).toMatchObject({ state: 'FAILED', code: 'TOOL_FAULT' });
  });

  test('a short read that gets no answer in time ends, after one try', async () => {
    await stage.desk.addFault({ match: { route: 'get_ticket' }, fault: { kind: 'hang' } });
    const run = await stage.begin();
    const call = await run.proposeOne(GET);

    expect(await call.readShort()).toMatchObject({ code: 'UNAVAILABLE' });
    expect(await asked()).toBe(1);
  });

  test('a long read is tried again while the desk is away, and waits as long as it asks for', async () => {
    await stage.desk.addFault({ match: { route: 'get_ticket' }, fault: { kind: 'status', status: 503 } });
    await stage.desk.addFault({
      match: { route: 'get_ticket' },
      fault: { kind: 'status', status: 429, retryAfter: 2 },
    });
    const run = await stage.begin();
    const call = await run.proposeOne(GET);

    const outcome = await call.readLong();

    expect(outcome.code).toBeUndefined();
    const times = (await stage.desk.requests()).map(({ at }) => Date.parse(at));
    expect(times).toHaveLength(3);
    expect((times[2] ?? 0) - (times[1] ?? 0)).toBeGreaterThanOrEqual(2_000);
  });

  test('a long read that stays refused is told, after a bounded number of tries', async () => {
    await stage.desk.addFault({
      match: { route: 'get_ticket' },
      times: 'always',
      fault: { kind: 'status', status: 503 },
    });
    const run = await stage.begin();
    const call = await run.proposeOne(GET);

    expect(await call.readLong()).toMatchObject({ code: 'UNAVAILABLE' });
    expect(await asked()).toBe(3);
  });

  test('a wait that the far side asks for beyond reason is told instead', async () => {
    await stage.desk.addFault({
      match: { route: 'get_ticket' },
      fault: { kind: 'status', status: 429, retryAfter: 3_600 },
    });
    const run = await stage.begin();
    const call = await run.proposeOne(GET);

    expect(await call.readLong()).toMatchObject({ code: 'RATE_LIMITED' });
    expect(await asked()).toBe(1);
  });

  test('a cancelled read is cut and stores nothing', async () => {
    await stage.desk.addFault({ match: { route: 'get_ticket' }, fault: { kind: 'hang' } });
    const run = await stage.begin();
    const call = await run.proposeOne(GET);
    const environment = regular();
    let beats = 0;
    environment.on('heartbeat', () => {
      beats += 1;
      if (beats === 2) environment.cancel();
    });

    await expect(call.readLong(environment)).rejects.toMatchObject({ name: 'CancelledFailure' });
    expect(await call.row()).toMatchObject({ state: 'CREATED' });
  });

  test("a worker's shutdown leaves the read to another worker", async () => {
    await stage.desk.addFault({ match: { route: 'get_ticket' }, fault: { kind: 'hang' } });
    const run = await stage.begin();
    const call = await run.proposeOne(GET);
    const environment = regular();
    environment.once('heartbeat', () => {
      environment.cancel('WORKER_SHUTDOWN', new ActivityCancellationDetails({ workerShutdown: true }));
    });

    await expect(call.readLong(environment)).rejects.toMatchObject({ type: 'WorkerShutdown', nonRetryable: false });
    expect(await call.readLong()).not.toHaveProperty('code');
  });
});

test('a ToolError of several matches without any named is no question', async () => {
  const vague = defineTool({
    name: 'find_one',
    description: 'Finds one.',
    inputSchema: z.object({}),
    outputSchema: z.object({}),
    effect: 'read',
    risk: 'low',
    execute: () => Promise.reject(new ToolError('OBJECT_AMBIGUOUS', 'more than one')),
  });
  const agent = ticketsAgent(stage.deskUrl);
  const run = await stage.begin({ agents: [{ ...agent, tools: [...agent.tools, vague] }] });
  const call = await run.proposeOne({ tool: 'find_one', args: {} });

  const outcome = await call.readShort();

  expect(outcome).toMatchObject({ code: 'OBJECT_AMBIGUOUS' });
  expect(outcome.question).toBeUndefined();
});

describe('read_evidence', () => {
  test('pages through a stored result, so that the pages make the whole', async () => {
    const body = '🚲 à la carte '.repeat(300);
    await stage.desk.putTicket({ id: 'T100', body });
    const run = await stage.begin();
    const read = await run.proposeOne(GET);
    await read.readShort();
    const { output: hash } = await read.row();
    const whole = hash && (await stage.store.artifacts.get(run.ref.tenant, hash));
    let text = '';
    let fromByte = 0;
    let total = Infinity;
    for (let step = 2; fromByte < total; step += 1) {
      const page = await run.proposeOne({
        tool: 'read_evidence',
        args: { evidence: 'E1.1', fromByte, maxBytes: 1_000 },
        step,
      });
      expect(await page.readShort()).not.toHaveProperty('code');
      const { output } = await page.row();
      const shown = parsePage(output && (await stage.store.artifacts.getJson(run.ref.tenant, output)));
      text += shown.text;
      fromByte = shown.toByte;
      total = shown.totalBytes;
    }

    expect(text).toBe(Buffer.from(whole?.bytes ?? []).toString('utf8'));
  });

  test("evidence that is none, or another run's, is not found", async () => {
    const other = await stage.begin();
    await (await other.proposeOne(GET)).readShort();
    const run = await stage.begin();
    const [mine, wait] = await run.propose(
      { tool: 'read_evidence', args: { evidence: 'E1.9', fromByte: 0, maxBytes: 100 } },
      { tool: 'read_evidence', args: { evidence: 'W7.0', fromByte: 0, maxBytes: 100 } },
    );

    expect(await mine?.readShort()).toMatchObject({ code: 'NOT_FOUND' });
    expect(await wait?.readShort()).toMatchObject({ code: 'NOT_FOUND' });
  });

  test("a person's response can be read as well", async () => {
    const run = await stage.begin();
    const wait = await run.openWait('handoff', { reason: 'loop' });
    await wait.answer({ take: false, guidance: 'Ask the payments team.' });
    const place = wait.id.split('_').slice(2).join('.');
    const call = await run.proposeOne({
      tool: 'read_evidence',
      args: { evidence: `W${place}`, fromByte: 0, maxBytes: 1_000 },
    });

    await call.readShort();

    const { output } = await call.row();
    expect(parsePage(output && (await stage.store.artifacts.getJson(run.ref.tenant, output))).text).toContain(
      'payments team',
    );
  });
});

interface Page {
  readonly text: string;
  readonly toByte: number;
  readonly totalBytes: number;
}
const parsePage = (value: unknown): Page => value as Page;
