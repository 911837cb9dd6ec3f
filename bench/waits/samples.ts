/**
 * One sample each: something that waits is told to go on, over the way by which it is told in earnest, and the time until its
 * next activity is scheduled is taken from the workflow's history. The bare workflow is told by a signal and nothing else.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import type { RunDetails } from '../../client';
import { SIGNALS } from '../../workflows/contract/messages';
import { BARE_QUEUE, type BenchStack } from '../stack/bench-stack';
import { clientFor } from '../stack/tokens';
import { goalOf, type WaitingTool } from '../waiting/script';
import { nextActivityAt, nowMs } from './next-activity';

export interface Sampling {
  readonly stack: BenchStack;
  readonly serviceUrl: string;
}

/** In ms. */
export type Sample = (sampling: Sampling) => Promise<number>;

const TENANT = 'bench';

export const sampleBare: Sample = async ({ stack: { client } }) => {
  const workflowId = `bare-${randomUUID()}`;
  const handle = await client.workflow.start('bareWait', { workflowId, taskQueue: BARE_QUEUE });
  if (!(await handle.query<boolean>('isWaiting'))) throw new Error(`${workflowId} does not wait`);
  const toldAt = nowMs();
  await handle.signal('tell');
  await handle.result();
  return (await nextActivityAt(client, workflowId, 'tell')) - toldAt;
};

export const sampleResponse: Sample = async (sampling) => {
  const { stack, serviceUrl } = sampling;
  const caller = await clientFor(stack, serviceUrl, { tenant: TENANT, subject: randomUUID() });
  const { row, waits } = await startWaiting(sampling, {
    agent: 'approved',
    tool: 'store_item',
    isWaiting: (details) => details.waits.some(({ state }) => state === 'OPEN'),
  });
  const { run } = row.ref;
  const wait = waits[0]?.id ?? '';
  const toldAt = nowMs();
  await caller.respond(run, { wait, response: { decision: 'approve' } });
  return untilEnded(sampling, { run, signal: SIGNALS.respond, toldAt });
};

export const sampleCallback: Sample = async (sampling) => {
  const { stack, serviceUrl } = sampling;
  const { row, operations } = await startWaiting(sampling, {
    agent: 'accepted',
    tool: 'store_later',
    isWaiting: (details) =>
      details.row.state === 'WAITING_TOOL' && details.operations.some(({ job }) => job !== undefined),
  });
  const { run } = row.ref;
  const url = `${serviceUrl}/v1/callbacks/${operations[0]?.id ?? ''}`;
  const request = signedRequest(stack.callbackSecret);
  const toldAt = nowMs();
  const { status } = await fetch(url, request);
  if (status !== 204) throw new Error(`${url}: got ${String(status)}, expected 204`);
  return untilEnded(sampling, { run, signal: SIGNALS.toolEvent, toldAt });
};

const signedRequest = (secret: string): RequestInit => {
  const id = `msg_${randomUUID()}`;
  const body = JSON.stringify({ type: 'job.done' });
  const at = new Date();
  return {
    method: 'POST',
    body,
    headers: {
      'Content-Type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': new Webhook(secret).sign(id, at, body),
    },
  };
};

interface WaitingRun {
  readonly agent: string;
  readonly tool: WaitingTool;
  readonly isWaiting: (details: RunDetails) => boolean;
}

const POLL_MS = 20;
const PATIENCE_MS = 60_000;
/** The row says so a moment before the workflow has nothing more to do. */
const SETTLE_MS = 100;

const startWaiting = async (
  { stack: { runs } }: Sampling,
  { agent, tool, isWaiting }: WaitingRun,
): Promise<RunDetails> => {
  const { ref } = await runs.start({ tenant: TENANT, subject: 'bench' }, { agent, goal: goalOf(tool) });
  const end = performance.now() + PATIENCE_MS;
  while (performance.now() < end) {
    const details = await runs.details(ref.tenant, ref.run);
    if (details.row.terminal !== undefined) throw new Error(`${ref.run} ended as ${details.row.terminal}`);
    if (isWaiting(details)) {
      await delay(SETTLE_MS);
      return details;
    }
    await delay(POLL_MS);
  }
  throw new Error(`${ref.run} did not come to wait`);
};

interface Told {
  readonly run: string;
  readonly signal: string;
  readonly toldAt: number;
}

const untilEnded = async ({ stack }: Sampling, { run, signal, toldAt }: Told): Promise<number> => {
  await stack.client.workflow.getHandle(run).result();
  const { terminal } = await stack.runs.get(TENANT, run);
  if (terminal !== 'SUCCEEDED') throw new Error(`${run} ended as ${String(terminal)}`);
  return (await nextActivityAt(stack.client, run, signal)) - toldAt;
};
