/** Runs the relays of this process until told to stop: they hold nothing in memory, and repeat until a row is done. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Store } from '../store/store';
import { relayStarts } from './start-relay';
import { relayWakes } from './wake-relay';
import type { StartTarget } from './start-workflow';

const EVERY_MS = 2_000;
const RELAYS = [relayStarts, relayWakes];

export interface RelayOptions extends StartTarget {
  readonly store: Store;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** Resolves when the signal is aborted. A pass that fails (the database is away) is followed by the next. */
export const runRelays = async ({ store, log, signal, ...target }: RelayOptions): Promise<void> => {
  while (!signal.aborted) {
    for (const relay of RELAYS) {
      try {
        await relay(store, target, log);
      } catch (error) {
        log.warn({ err: error }, 'a relay pass failed');
      }
    }
    await delay(EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
};
