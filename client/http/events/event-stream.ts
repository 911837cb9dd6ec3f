/** A stream of a run's events, for whoever may read the run: the API's route and the page use the same one. */
import type { RunReading } from '../../../store/reader';
import { ProblemError } from '../problems/problem';
import type { Service } from '../service';
import { toFrames } from './frames';

export interface StreamOptions {
  /** From `Last-Event-ID`: the position of the last line that the client has. */
  readonly after: number;
  /** When the caller's token ends; the stream ends with it. */
  readonly expiresAt: number;
  /** Of the request: the client has gone. */
  readonly gone: AbortSignal;
}

const POSITION = /^\d{1,15}$/;

/** Throws `cursor.invalid` for anything that no event of any run has as its id. */
export const parseLastEventId = (id: string | undefined): number => {
  if (id === undefined || id === '') return 0;
  if (!POSITION.test(id)) {
    throw new ProblemError('cursor.invalid', 'Last-Event-ID: expected the id of an event, a whole number', {
      field: 'Last-Event-ID',
    });
  }
  return Number(id);
};

/** 204 where the run has ended and the client has everything: an EventSource does not come back after it. */
export const streamEvents = (service: Service, run: RunReading, options: StreamOptions): Response => {
  const { parts, limits, closing, streams } = service;
  if (run.row.terminal !== undefined && options.after === run.position) return new Response(null, { status: 204 });
  if (closing.aborted) throw new ProblemError('service.closing', 'the service is being stopped');
  if (streams.size >= limits.maxFollowers) {
    throw new ProblemError('service.busy', `got ${limits.maxFollowers} followers already`);
  }
  const done = new AbortController();
  const life = AbortSignal.timeout(Math.min(Math.max(options.expiresAt - Date.now(), 0), MAX_LIFE_MS));
  const signal = AbortSignal.any([done.signal, closing, options.gone, life]);
  const frames = toFrames(parts.feeds.follow(run, { after: options.after, signal }), limits);
  streams.add(frames);
  // Whoever ends it, and wherever the stream stands: what it holds is let go.
  signal.addEventListener('abort', () => {
    streams.delete(frames);
    void frames.return();
  });
  return new Response(toStream(frames, done), {
    headers: {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-store',
      // Proxies that buffer would hold frames back.
      'X-Accel-Buffering': 'no',
    },
  });
};

const MAX_LIFE_MS = 3_600_000;

/** Frames are made when they are asked for: a client that does not read costs one frame, not a growing queue. */
const toStream = (frames: AsyncGenerator<string, void>, done: AbortController): ReadableStream<Uint8Array> => {
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const next = await frames.next();
      if (next.done === true) {
        done.abort();
        controller.close();
      } else controller.enqueue(encoder.encode(next.value));
    },
    cancel: () => {
      done.abort();
    },
  });
};
