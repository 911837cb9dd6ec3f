/** The worker of the bare loop, with the same options as Holdfast's where they concern speed. */
import Anthropic from '@anthropic-ai/sdk';
import { NativeConnection, Worker } from '@temporalio/worker';
import { join } from 'node:path';
import { z } from 'zod';
import { BODY } from './body';
import type { BareActivities } from './bare-workflows';

const OPTIONS = z.object({ address: z.string(), taskQueue: z.string(), modelUrl: z.url(), bundle: z.string() });

const main = async (): Promise<void> => {
  const { address, taskQueue, modelUrl, bundle } = OPTIONS.parse(JSON.parse(process.argv[2] ?? ''));
  const connection = await NativeConnection.connect({ address });
  const worker = await Worker.create({
    connection,
    taskQueue,
    workflowBundle: { codePath: join(bundle) },
    activities: { ...createBareActivities(modelUrl) },
    stickyQueueScheduleToStartTimeout: '1s',
  });
  const stopped = worker.run();
  process.stdout.write(`${JSON.stringify({ ready: true })}\n`);
  await stopped;
  await connection.close();
};

/** The same model over the same SDK; its prompt never grows. The tool answers at once with 500 bytes. */
const createBareActivities = (baseURL: string): BareActivities => {
  const client = new Anthropic({ apiKey: 'offline', baseURL, maxRetries: 0 });
  return {
    askModel: async ({ goal, step }) => {
      const stream = client.messages.stream({
        model: 'bench',
        max_tokens: 1024,
        messages: [{ role: 'user', content: `${goal}\n<status>\n{"step":${String(step)}}\n</status>` }],
        tools: [{ name: 'read_item', input_schema: { type: 'object' } }],
      });
      const { content } = await stream.finalMessage();
      const use = content.find((block) => block.type === 'tool_use');
      return use?.name === 'read_item' ? JSON.stringify(use.input) : undefined;
    },
    useTool: ({ proposal }) => Promise.resolve(`${proposal}${BODY}`),
  };
};

void main();
