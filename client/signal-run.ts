/** Wakes a run at once. What it is about is stored, and so is that the signal is owed: a relay sends it where this fails. */
import type { Client } from '@temporalio/client';
import type { RunRef } from '../workflows/contract/records';

export interface RunSignal {
  readonly name: string;
  readonly about?: object;
}

/** Whoever was answered must not wait for an engine that is away. */
const SIGNAL_TIMEOUT_MS = 2_000;

/** False where the engine did not take it: it is away, or the workflow has ended. */
export const signalRun = async (temporal: Client, { run }: RunRef, { name, about }: RunSignal): Promise<boolean> => {
  try {
    await temporal.connection.withDeadline(Date.now() + SIGNAL_TIMEOUT_MS, () =>
      temporal.workflow.getHandle(run).signal(name, ...(about === undefined ? [] : [about])),
    );
    return true;
  } catch {
    // Its reason does not matter: nothing that was acknowledged depends on it.
    return false;
  }
};
