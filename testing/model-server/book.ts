import type { Answer } from './answer';
import { bytesOfBlocks } from './answer';
import type { ServerEvent } from './events';

/** What the provider would bill for one request. */
export interface BookEntry {
  /** The request's number. */
  readonly request: number;
  readonly at: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheCreationTokens: number;
  /** Null until it has been sent. */
  readonly stopReason: string | null;
  /** Whether all of the answer has been sent. */
  readonly complete: boolean;
}

/** One row that grows while its stream is sent. */
export interface OpenEntry {
  /** The event has been handed to the connection. */
  readonly countSent: (event: ServerEvent) => void;
}

/**
 * The server's own account, to hold a ledger against. A row opens with the first event that is sent, so requests that
 * were refused, or that never got an answer, cost nothing; a stream that breaks costs its input and what had been sent.
 */
export class Book {
  #entries: BookEntry[] = [];

  /** A server that answers millions of requests may do without. */
  constructor(private readonly keeps: boolean) {}

  get entries(): readonly BookEntry[] {
    return [...this.#entries];
  }

  open(request: number, answer: Answer, at: string): OpenEntry {
    const entries = this.keeps ? this.#entries : [];
    const totalBytes = Math.max(1, bytesOfBlocks(answer.blocks));
    const { inputTokens, cacheReadTokens, cacheCreationTokens } = answer.usage;
    let entry: BookEntry = {
      request,
      at,
      inputTokens,
      outputTokens: 1,
      cacheReadTokens,
      cacheCreationTokens,
      stopReason: null,
      complete: false,
    };
    let position: number | undefined;
    let sentBytes = 0;
    return {
      countSent: (event) => {
        if (event.name === 'error') return;
        sentBytes += event.outputBytes;
        entry = { ...entry, ...afterEvent(event, answer, sentBytes / totalBytes) };
        position ??= entries.length;
        entries[position] = entry;
      },
    };
  }

  /** Rows that are still open go on in the old account, which nobody reads any more. */
  clear(): void {
    this.#entries = [];
  }
}

function afterEvent(event: ServerEvent, answer: Answer, share: number): Partial<BookEntry> {
  const { outputTokens } = answer.usage;
  if (event.name === 'message_stop') return { outputTokens, stopReason: answer.stopReason, complete: true };
  if (event.name === 'message_delta') return { outputTokens, stopReason: answer.stopReason };
  return { outputTokens: Math.max(1, Math.round(outputTokens * share)) };
}
