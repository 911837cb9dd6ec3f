/** What the activities are given: everything that touches the world is passed in. */
import type { Logger } from 'pino';
import type { AgentRegistry } from '../definition/registry';
import type { Store } from '../store/store';

/** Where the model is, and how this worker may speak to it. */
export interface ModelAccess {
  readonly apiKey: string;
  /** Absent: the provider's own address. */
  readonly baseUrl?: string;
}

export interface ActivityDeps {
  readonly store: Store;
  readonly registry: AgentRegistry;
  readonly model: ModelAccess;
  /** Structured; run, step, attempt and operation ids in every line, never arguments, results or secrets. */
  readonly log: Logger;
  /** How long an activity keeps a candidate or a reply while the database is away. */
  readonly storeGraceMs: number;
  /** Of the tokens of waits. Absent: no response that comes as a signal counts. */
  readonly tokenKey?: Uint8Array;
  /** Base address of the receiver of callbacks, where this deployment has one. */
  readonly callbackBaseUrl?: string;
}
