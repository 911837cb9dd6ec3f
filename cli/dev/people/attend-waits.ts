/** Sees to what a run asks of people, one wait after the other, for as long as it is waiting for them. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Runs } from '../../../client/runs';
import type { Caller } from '../../../client/start-request';
import type { WaitDetails, Waits } from '../../../client/waits';
import { parseRunId } from '../../../workflows/contract/ids';
import { IMPATIENT, type Patience } from '../../view/patience';

export interface Attendant {
  /** Called once for each wait; resolves when it is decided, by whomever, or left to others. */
  attend(wait: WaitDetails): Promise<void>;
}

export interface AttendOptions {
  readonly runs: Runs;
  readonly waits: Waits;
  /** Who reads the waits. */
  readonly caller: Caller;
  readonly run: string;
  readonly everyMs: number;
  /** Ends it early; nothing is thrown. */
  readonly signal: AbortSignal;
  /** How a database that is away is borne. */
  readonly patiently?: Patience;
}

const LIMIT = 50;

/** The function that it returns resolves once the run waits for nobody: at once where it does not. It may be called again. */
export const createAttendance = (options: AttendOptions, attendant: Attendant): (() => Promise<void>) => {
  const { runs, waits, caller, everyMs, signal, patiently = IMPATIENT } = options;
  const run = parseRunId(options.run);
  const attended = new Set<string>();
  return async () => {
    while (!signal.aborted) {
      const { state } = await patiently(() => runs.get(caller.tenant, run));
      if (state !== 'WAITING_USER') return;
      const { waits: open } = await patiently(() => waits.list(caller, { run, state: 'OPEN', limit: LIMIT }));
      const next = open.find(({ wait }) => !attended.has(wait));
      if (next === undefined) {
        await delay(everyMs, undefined, { signal }).catch(() => undefined);
        continue;
      }
      attended.add(next.wait);
      await attendant.attend(await patiently(() => waits.get(caller, next.wait)));
    }
  };
};
