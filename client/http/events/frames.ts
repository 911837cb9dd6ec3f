/**
 * Server-sent events: one frame for each thing that a follower is told. Only journal lines have an id (their position), so
 * that a reconnecting client always goes on from the journal; whatever else it has shown begins anew with a `reset`.
 */
import type { FeedItem } from '../../schemas/event';

/** How soon a client that lost its connection comes back. */
const RETRY_MS = 1_000;

export const HEAD = `retry: ${String(RETRY_MS)}\n\n`;
/** A comment: keeps connections open that nothing is said on. */
export const ALIVE = ': alive\n\n';

export const toFrame = (item: FeedItem): string => {
  if (item.kind === 'event') return `id: ${String(item.event.position)}\n${frame('event', item.event)}`;
  const { kind, ...data } = item;
  return frame(kind, data);
};

// JSON has no raw line breaks, so one data line holds it.
const frame = (event: string, data: object): string => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

/** Frames of the items, with a comment whenever nothing else was said for so long. */
export async function* toFrames(
  items: AsyncGenerator<FeedItem, void>,
  { heartbeatMs }: { readonly heartbeatMs: number },
): AsyncGenerator<string, void> {
  try {
    yield HEAD;
    let next = items.next();
    for (;;) {
      const item = await within(next, heartbeatMs);
      if (item === undefined) {
        yield ALIVE;
        continue;
      }
      if (item.done === true) return;
      yield toFrame(item.value);
      next = items.next();
    }
  } finally {
    await items.return();
  }
}

/** Undefined where it takes longer. */
const within = async <T>(promise: Promise<T>, ms: number): Promise<T | undefined> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, ms, undefined);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
};
