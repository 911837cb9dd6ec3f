/** When a workflow scheduled the next activity after a signal, by the Temporal server's clock, which is this machine's. */
import type { Client } from '@temporalio/client';

/** In ms since the epoch. Throws where there was no such signal, or nothing was scheduled after it. */
export const nextActivityAt = async (client: Client, workflowId: string, signal: string): Promise<number> => {
  const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
  const all = events ?? [];
  const told = all.findIndex((event) => event.workflowExecutionSignaledEventAttributes?.signalName === signal);
  const next = all.find((event, index) => index > told && event.activityTaskScheduledEventAttributes);
  const { seconds, nanos } = next?.eventTime ?? {};
  if (told < 0 || seconds === undefined || seconds === null) {
    throw new Error(`${workflowId}: expected a signal ${signal} and an activity scheduled after it`);
  }
  return Number(seconds) * 1_000 + (nanos ?? 0) / 1e6;
};

/** The same clock on this side. */
export const nowMs = (): number => performance.timeOrigin + performance.now();
