/** The worker of the bare waits, with the same options as Holdfast's where they concern speed. */
import { NativeConnection, Worker } from '@temporalio/worker';
import { z } from 'zod';
import { BODY } from '../core/body';
import type { BareActivities } from './bare-workflows';

const OPTIONS = z.object({ address: z.string(), taskQueue: z.string(), bundle: z.string() });

const activities: BareActivities = { goOn: () => Promise.resolve(BODY) };

const main = async (): Promise<void> => {
  const { address, taskQueue, bundle } = OPTIONS.parse(JSON.parse(process.argv[2] ?? ''));
  const connection = await NativeConnection.connect({ address });
  const worker = await Worker.create({
    connection,
    taskQueue,
    workflowBundle: { codePath: bundle },
    activities: { ...activities },
    stickyQueueScheduleToStartTimeout: '1s',
  });
  const stopped = worker.run();
  process.stdout.write(`${JSON.stringify({ ready: true })}\n`);
  await stopped;
  await connection.close();
};

void main();
