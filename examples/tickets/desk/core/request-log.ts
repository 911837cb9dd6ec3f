import { z } from 'zod';

const MAX_REQUESTS = 20_000;

/** One request as the desk received it, the control routes apart. */
export const loggedRequestSchema = z
  .object({
    seq: z.number().int(),
    method: z.string(),
    /** With its query. */
    path: z.string(),
    key: z.string().nullable(),
    ifMatch: z.string().nullable(),
    at: z.string(),
    /** The status that was answered, `dropped` when the connection was cut, `pending` while neither has happened. */
    outcome: z.union([z.number().int(), z.enum(['dropped', 'pending'])]),
  })
  .readonly();
export type LoggedRequest = z.infer<typeof loggedRequestSchema>;

/** The newest requests, in memory only. */
export class RequestLog {
  #requests = new Map<number, LoggedRequest>();
  #received = 0;

  get requests(): readonly LoggedRequest[] {
    return [...this.#requests.values()];
  }

  begin(request: Omit<LoggedRequest, 'seq' | 'outcome'>): number {
    this.#received += 1;
    const seq = this.#received;
    this.#requests.set(seq, { seq, ...request, outcome: 'pending' });
    if (this.#requests.size > MAX_REQUESTS) this.#requests.delete(seq - MAX_REQUESTS);
    return seq;
  }

  end(seq: number, outcome: number | 'dropped'): void {
    const request = this.#requests.get(seq);
    if (request) this.#requests.set(seq, { ...request, outcome });
  }

  /** Numbers go on, so that a request still under way cannot be taken for a later one. */
  clear(): void {
    this.#requests = new Map();
  }
}
