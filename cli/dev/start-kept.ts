/** Programs that others know by their address: one that is killed is started again at the same port. */
import { z } from 'zod';
import { errorText } from '../stack/errors';
import type { ProcessGroup, ScriptOptions } from '../stack/process-group';

export interface KeptScript {
  readonly name: string;
  /** To start it at this port, 0 for any. */
  readonly at: (port: number) => Omit<ScriptOptions, 'name' | 'onKilled'>;
  /** Without that its being killed ends the stack: others have its address. */
  readonly canTakePort: boolean;
  /** What is lost by that, in words. */
  readonly lost?: string;
}

export interface KeptOptions {
  readonly group: ProcessGroup;
  readonly onProgress: (message: string) => void;
}

const READY = z.object({ url: z.url() });

/** More often than that within the time, and something is wrong that starting again does not mend. */
const MAX_RESTARTS = 5;
const WITHIN_MS = 60_000;

/** Says whether one more is allowed at this moment, and counts it. */
export const createRestartLimit = (): ((now: number) => boolean) => {
  let restarts: readonly number[] = [];
  return (now) => {
    restarts = restarts.filter((at) => now - at < WITHIN_MS);
    if (restarts.length >= MAX_RESTARTS) return false;
    restarts = [...restarts, now];
    return true;
  };
};

/** Resolves to its address, which stays. */
export const startKept = async ({ group, onProgress }: KeptOptions, script: KeptScript): Promise<string> => {
  const { name, at, canTakePort, lost } = script;
  const isAllowed = createRestartLimit();
  const known: { address?: string } = {};
  const start = async (port: number): Promise<string> => {
    const { ready } = await group.startScript({ name, ...at(port), onKilled });
    return READY.parse(ready).url;
  };
  const onKilled = (): boolean => {
    const { address } = known;
    if (address === undefined || !canTakePort || !isAllowed(performance.now())) return false;
    onProgress(`${name} was killed: another one takes over at ${address}${lost === undefined ? '' : `; ${lost}`}`);
    // One that cannot start breaks the stack by its own end.
    start(Number(new URL(address).port)).then(
      () => {
        onProgress(`${name} is ready again`);
      },
      (error: unknown) => {
        onProgress(`No other ${name} has started: ${errorText(error)}`);
      },
    );
    return true;
  };
  const address = await start(0);
  known.address = address;
  return address;
};
