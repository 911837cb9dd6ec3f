/** Beats for an activity as long as it works, whatever it waits for. */
import { Context } from '@temporalio/activity';

const BEAT_EVERY_MS = 500;

/**
 * Without a heartbeat time-out nobody listens for beats, and none is sent. The time-out counts from the start, so work that
 * is over before the first beat is due sends none either: each is a write of the server's.
 */
export const withHeartbeat = async <T>(work: () => Promise<T>): Promise<T> => {
  const context = Context.current();
  if (context.info.heartbeatTimeoutMs === undefined) return work();
  const beat = setInterval(() => {
    context.heartbeat();
  }, BEAT_EVERY_MS);
  try {
    return await work();
  } finally {
    clearInterval(beat);
  }
};
