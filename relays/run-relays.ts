/** Runs the relays of this process until told to stop: they hold nothing in memory, and repeat until a row is done. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Store } from '../store/store';
import { relayStarts } from './start-relay';
import type { StartTarget } from './start-workflow';
import { sweepClosed } from './sweep';
import { relayWakes } from './wake-relay';

const EVERY_MS = 2_000;
/** One query of the database each where nothing is owed. */
const IN_EVERY_PASS = [relayStarts, relayWakes];
/** Asks the engine, so it comes only with every 15th pass: each half a minute. */
const SWEEP_EVERY_PASSES = 15;

export interface RelayOptions extends StartTarget {
  readonly store: Store;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** Resolves when the signal is aborted. A pass that fails (the database is away) is followed by the next. */
export const runRelays = async ({ store, log, signal, ...target }: RelayOptions): Promise<void> => {
  for (let pass = 0; !signal.aborted; pass += 1) {
    for (const relay of pass % SWEEP_EVERY_PASSES === 0 ? [...IN_EVERY_PASS, sweepClosed] : IN_EVERY_PASS) {
      try {
        await relay(store, target, log);
      } catch (error) {
        log.warn({ err: error }, 'a relay pass failed');
      }
    }
    await delay(EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
};
