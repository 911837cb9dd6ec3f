/** What a workflow on a real server sees of an attempt that is interrupted. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { text, turn } from '../../../testing/model-server';
import { startDevServer } from '../../support/services';
import { setAttemptStage, type AttemptStage, type Attempts } from './attempt-stage';
import { giveUp, oneAttempt } from './attempt-workflow';

const ANSWER = turn([text('Reading it.')]);
const STALLED = { script: () => ANSWER, faults: [{ fault: { kind: 'stall', at: { afterEvents: 3 } } as const }] };

let stage: AttemptStage;
let server: Awaited<ReturnType<typeof startDevServer>>;
let connection: Connection;
let native: NativeConnection;
let code: string;

beforeAll(async () => {
  const logger = new DefaultLogger('ERROR');
  Runtime.install({ logger });
  [stage, server] = await Promise.all([setAttemptStage(), startDevServer()]);
  connection = await Connection.connect({ address: server.address });
  native = await NativeConnection.connect({ address: server.address });
  ({ code } = await bundleWorkflowCode({ workflowsPath: join(__dirname, 'attempt-workflow.ts'), logger }));
});
afterAll(async () => {
  await native.close();
  await connection.close();
  await stage.close();
});

const startWorker = async (attempts: Attempts) => {
  const taskQueue = `attempts-${randomUUID()}`;
  const worker = await Worker.create({
    connection: native,
    namespace: server.namespace,
    taskQueue,
    workflowBundle: { code },
    activities: { runAttempt: attempts.runHere },
    maxHeartbeatThrottleInterval: '500ms',
    shutdownGraceTime: 0,
  });
  const running = worker.run();
  const client = new Client({ connection, namespace: server.namespace });
  const handle = await client.workflow.start(oneAttempt, {
    workflowId: randomUUID(),
    taskQueue,
    args: [attempts.input()],
  });
  return { worker, running, handle };
};

test('a cancel ends the attempt as cancelled, within seconds of silence', async () => {
  await stage.use(STALLED, async (attempts) => {
    const { worker, running, handle } = await startWorker(attempts);
    await attempts.server.whenReceived(1);

    await handle.signal(giveUp);

    expect(await handle.result()).toBe('cancelled');
    expect(await attempts.row()).toMatchObject({ state: 'FAILED', outcome: { code: 'model.interrupted' } });
    worker.shutdown();
    await running;
  });
});

test('a shutdown of the worker is none: the attempt is lost, and its workflow may collect it', async () => {
  await stage.use(STALLED, async (attempts) => {
    const { worker, running, handle } = await startWorker(attempts);
    await attempts.server.whenReceived(1);

    worker.shutdown();
    await running;

    expect(await attempts.row()).toMatchObject({ state: 'LOST', usage: { inputTokens: expect.any(Number) } });
    const next = await Worker.create({
      connection: native,
      namespace: server.namespace,
      taskQueue: worker.options.taskQueue,
      workflowBundle: { code },
    });
    expect(await next.runUntil(handle.result())).toBe('failed: WorkerShutdown');
  });
});
