import { Connection } from '@temporalio/client';
import { exitedEarly, notReady } from './ready-line';
import { StackError } from './errors';
import { waitFor } from './wait-for';
import { logTail, type WatchedProcess } from './watched-process';

export interface ReadyProbe {
  readonly address: string;
  readonly timeoutMs: number;
  /** Asked once the server answers at all; throws until it is ready. */
  readonly check: (connection: Connection) => Promise<unknown>;
}

const CALL_TIMEOUT_MS = 1_000;

/** Waits until the server answers real calls. Throws when it ends or is not ready in time; a taken port is told apart. */
export async function waitForTemporal(server: WatchedProcess, probe: ReadyProbe): Promise<void> {
  const { address, timeoutMs } = probe;
  const decided = await waitFor(async () => server.hasExited() || (await answers(probe)), timeoutMs);
  if (!decided) throw notReady(server, timeoutMs);
  // An answer counts only while our process lives: the port may be somebody else's.
  if (server.hasExited()) throw portTaken(server.logFile, address) ?? (await exitedEarly(server));
}

async function answers({ address, check }: ReadyProbe): Promise<boolean> {
  let connection: Connection | undefined;
  try {
    connection = await Connection.connect({ address, connectTimeout: CALL_TIMEOUT_MS });
    const connected = connection;
    await connected.withDeadline(Date.now() + CALL_TIMEOUT_MS, () => check(connected));
    return true;
  } catch {
    return false; // not yet
  } finally {
    await connection?.close();
  }
}

function portTaken(logFile: string, address: string): StackError | undefined {
  if (!/address already in use|Failed to bind/i.test(logTail(logFile, 40))) return undefined;
  const message = `a port of the Temporal server at ${address} is in use: stop what has it, or leave the port to the stack`;
  return new StackError('stack.port_unavailable', message, { address });
}
