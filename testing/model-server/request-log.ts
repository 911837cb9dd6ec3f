import type { IncomingHttpHeaders } from 'node:http';
import type { Fault } from './faults/fault';

export type RequestOutcome =
  | { readonly kind: 'open' }
  /** The request broke a rule of the provider. */
  | { readonly kind: 'refused'; readonly status: number; readonly errorType: string; readonly message: string }
  /** A fault came instead of an answer. */
  | { readonly kind: 'faulted'; readonly fault: Fault }
  | { readonly kind: 'script-failed'; readonly message: string }
  | { readonly kind: 'answered'; readonly messageId: string; readonly fault?: Fault; readonly complete: boolean }
  /** The client left before the answer was out; a stalled answer ends in no other way. */
  | { readonly kind: 'abandoned'; readonly fault?: Fault };

export interface RequestRecord {
  readonly number: number;
  readonly requestId: string;
  readonly at: string;
  /** Credentials are replaced by `[set]`. */
  readonly headers: IncomingHttpHeaders;
  /** The body as it came, for comparing bytes. */
  readonly body: string;
  readonly outcome: RequestOutcome;
}

/** A request that is being answered. After a reset of the log it settles into nothing. */
export interface OpenRecord {
  readonly number: number;
  readonly settle: (outcome: RequestOutcome) => void;
}

const CREDENTIAL_HEADERS = ['x-api-key', 'authorization'];

/** The last requests with what became of them. */
export class RequestLog {
  #records: RequestRecord[] = [];
  #received = 0;
  readonly #waiting = new Set<() => void>();

  constructor(private readonly keptRecords: number) {}

  get records(): readonly RequestRecord[] {
    return [...this.#records];
  }

  /** Since the start or the last reset, kept or not. */
  get received(): number {
    return this.#received;
  }

  add(request: Omit<RequestRecord, 'number' | 'outcome'>): OpenRecord {
    this.#received += 1;
    let current: RequestRecord = {
      ...request,
      headers: withoutCredentials(request.headers),
      number: this.#received,
      outcome: { kind: 'open' },
    };
    this.#records.push(current);
    if (this.#records.length > this.keptRecords) this.#records.shift();
    this.#wake();
    return {
      number: current.number,
      settle: (outcome) => {
        const position = this.#records.indexOf(current);
        current = { ...current, outcome };
        if (position !== -1) this.#records[position] = current;
        this.#wake();
      },
    };
  }

  /** Resolves once the condition holds; it is tested whenever a request comes or ends. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) {
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
  }

  clear(): void {
    this.#records = [];
    this.#received = 0;
  }

  #wake(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    waiting.forEach((wake) => {
      wake();
    });
  }
}

function withoutCredentials(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, CREDENTIAL_HEADERS.includes(name) ? '[set]' : value]),
  );
}
