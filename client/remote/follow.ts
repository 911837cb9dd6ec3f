/** Following a run over HTTP. A connection that breaks is opened again behind the last line that came: nothing is missed. */
import { setTimeout as delay } from 'node:timers/promises';
import { HoldfastError } from '../errors';
import type { FollowOptions } from '../holdfast-client';
import { END, EVENT, RESET, RESYNC, TEXT, type FeedItem } from '../schemas/event';
import { readFrames, type SseFrame } from './read-frames';
import { ask, type Remote } from './request';

const RECONNECT_MS = 1_000;
/** Refusals that another try may not meet. */
const PASSING: ReadonlySet<string> = new Set([
  'service.unreachable',
  'service.busy',
  'service.closing',
  'store.unavailable',
  'request.timeout',
]);

export async function* followRemote(
  remote: Remote,
  path: string,
  { after = 0, signal = new AbortController().signal }: FollowOptions,
): AsyncGenerator<FeedItem, void> {
  let position = after;
  while (!signal.aborted) {
    const response = await open(remote, path, { position, signal });
    if (response?.status === 204) return;
    if (response?.body) {
      for await (const frame of readFrames(response.body)) {
        const item = toItem(frame);
        if (item === undefined) continue;
        if (item.kind === 'event') position = item.event.position;
        if (item.kind === 'resync') position = item.snapshot.position;
        yield item;
        if (item.kind === 'end') return;
      }
    }
    await delay(RECONNECT_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** Undefined where the service cannot be reached for now. */
const open = async (
  remote: Remote,
  path: string,
  { position, signal }: { readonly position: number; readonly signal: AbortSignal },
): Promise<Response | undefined> => {
  try {
    return await ask(remote, {
      path,
      signal,
      headers: { Accept: 'text/event-stream', 'Last-Event-ID': String(position) },
    });
  } catch (error) {
    if (error instanceof HoldfastError && PASSING.has(error.code)) return undefined;
    throw error;
  }
};

/** Undefined for a frame of a kind that this client does not know. */
const toItem = ({ event, data }: SseFrame): FeedItem | undefined => {
  const value: unknown = JSON.parse(data);
  switch (event) {
    case 'event':
      return { kind: 'event', event: EVENT.parse(value) };
    case 'reset':
      return { kind: 'reset', ...RESET.parse(value) };
    case 'text':
      return { kind: 'text', ...TEXT.parse(value) };
    case 'resync':
      return { kind: 'resync', ...RESYNC.parse(value) };
    case 'end':
      return { kind: 'end', ...END.parse(value) };
    default:
      return undefined;
  }
};
