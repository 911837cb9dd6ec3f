/** What a step costs in Temporal's history: events and bytes from the second step's first event to the last step's. */
import type { Client } from '@temporalio/client';
import { temporal } from '@temporalio/proto';

export interface HistoryCost {
  readonly eventsPerStep: number;
  readonly bytesPerStep: number;
  readonly totalEvents: number;
  readonly totalBytes: number;
}

/** `modelActivity` marks where a step begins. */
export const historyCost = async (client: Client, workflowId: string, modelActivity: string): Promise<HistoryCost> => {
  const { events = [] } = await client.workflow.getHandle(workflowId).fetchHistory();
  const sizes = (events ?? []).map((event) => temporal.api.history.v1.HistoryEvent.encode(event).finish().length);
  const starts = (events ?? []).flatMap((event, index) =>
    event.activityTaskScheduledEventAttributes?.activityType?.name === modelActivity ? [index] : [],
  );
  const [first = 0] = starts;
  const last = starts.at(-1) ?? 0;
  const steps = Math.max(starts.length - 1, 1);
  const sum = (parts: readonly number[]): number => parts.reduce((all, size) => all + size, 0);
  return {
    eventsPerStep: round((last - first) / steps),
    bytesPerStep: Math.round(sum(sizes.slice(first, last)) / steps),
    totalEvents: sizes.length,
    totalBytes: sum(sizes),
  };
};

const round = (value: number): number => Math.round(value * 100) / 100;
