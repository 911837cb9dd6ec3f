import { Connection } from '@temporalio/client';
import { registerSearchAttributes, type SearchAttributeTypes } from '../../cli/stack/search-attributes';
import { BROKER_VARIABLE } from './service-broker';

export interface SharedTemporal {
  readonly address: string;
  readonly namespace: string;
}

/**
 * The Temporal development server of this jest run (in memory, real time), with these search attributes. It is shared:
 * keep apart by task queue and workflow ids, and never stop it; a test that kills a server starts its own.
 */
export async function startDevServer(searchAttributes: SearchAttributeTypes = {}): Promise<SharedTemporal> {
  const server = await askBroker('/temporal', ['address', 'namespace']);
  const connection = await Connection.connect({ address: server.address });
  try {
    await registerSearchAttributes(connection, server.namespace, searchAttributes);
  } finally {
    await connection.close();
  }
  return server;
}

/** The workflow bundle of this tree, made once per jest run. */
export async function workflowBundle(): Promise<string> {
  return (await askBroker('/bundle', ['path'])).path;
}

/** The directory with what the build makes of this tree, made at most once per jest run. */
export async function builtPackage(): Promise<string> {
  return (await askBroker('/dist', ['path'])).path;
}

/** The URL of the shared PostgreSQL's own database, for `databases.ts`. */
export async function sharedPostgresUrl(): Promise<string> {
  return (await askBroker('/postgres', ['url'])).url;
}

async function askBroker<K extends string>(path: string, keys: readonly K[]): Promise<Readonly<Record<K, string>>> {
  const broker = process.env[BROKER_VARIABLE];
  if (broker === undefined) throw new Error('only integration tests have servers: put the file below test/integration');
  const response = await fetch(`${broker}${path}`);
  const body: unknown = await response.json();
  if (!response.ok) throw new Error(`the shared server did not start: ${JSON.stringify(body)}`);
  return parseAnswer(body, keys);
}

function parseAnswer<K extends string>(body: unknown, keys: readonly K[]): Readonly<Record<K, string>> {
  const answer = (body ?? {}) as Record<K, unknown>;
  const missing = keys.filter((key) => typeof answer[key] !== 'string');
  if (missing.length > 0) throw new Error(`the broker's answer lacks ${missing.join(', ')}`);
  return answer as Record<K, string>;
}
