import { OFFLINE_REQUEST_PREFIX } from '../../workflows/contract/offline-model';

const DIGITS = 24;

/**
 * Ids in the provider's form from counters: the same requests in the same order get the same ids. Those of requests say that
 * no provider made them, so that whoever reads a stored answer can tell.
 */
export class Ids {
  readonly #counts = new Map<string, number>();

  /** The next id that is not taken: a conversation may be older than this server. */
  next(prefix: 'msg' | 'req' | 'toolu' | 'srvtoolu', taken: ReadonlySet<string> = new Set()): string {
    for (;;) {
      const count = (this.#counts.get(prefix) ?? 0) + 1;
      this.#counts.set(prefix, count);
      const start = prefix === 'req' ? OFFLINE_REQUEST_PREFIX : `${prefix}_`;
      const id = `${start}${count.toString().padStart(DIGITS, '0')}`;
      if (!taken.has(id)) return id;
    }
  }

  clear(): void {
    this.#counts.clear();
  }
}
