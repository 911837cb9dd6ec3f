import { Connection } from '@temporalio/client';
import type { TemporalAddress } from '../../config/temporal-connection';
import { SEARCH_ATTRIBUTES } from '../../workflows/contract/messages';
import { errorText } from '../stack/errors';
import { ok, wrong, type Finding } from './finding';

const TIMEOUT_MS = 5_000;

/** Reachable, with the namespace, and with the search attributes that every start names. */
export const checkEngine = async ({ namespace, ...connect }: TemporalAddress): Promise<Finding> => {
  let connection: Connection;
  try {
    connection = await Connection.connect({ ...connect, connectTimeout: TIMEOUT_MS });
  } catch (error) {
    const mend =
      'start Temporal (npx holdfast dev brings one), or mend TEMPORAL_ADDRESS, TEMPORAL_API_KEY and the TLS settings';
    return wrong('engine', `no answer from Temporal at ${connect.address}: ${reasonOf(error)}`, mend);
  }
  try {
    return await connection.withDeadline(Date.now() + TIMEOUT_MS, () => look(connection, connect.address, namespace));
  } finally {
    await connection.close();
  }
};

const look = async (connection: Connection, address: string, namespace: string): Promise<Finding> => {
  const where = `Temporal at ${address}, namespace ${namespace}`;
  try {
    await connection.workflowService.describeNamespace({ namespace });
  } catch (error) {
    const mend = `set TEMPORAL_NAMESPACE, or make it: temporal operator namespace create --namespace ${namespace}`;
    return wrong('engine', `${where}: the namespace is not to be had: ${reasonOf(error)}`, mend);
  }
  const missing = await findMissing(connection, namespace);
  if (missing.length === 0) return ok('engine', `${where} answers and has the search attributes`);
  const flags = missing.map((name) => `--name ${name}`).join(' ');
  return wrong(
    'engine',
    `${where} lacks the search attributes ${missing.join(', ')}, without which no run starts`,
    `run: npx holdfast migrate (or: temporal operator search-attribute create --namespace ${namespace} --type Keyword ${flags})`,
  );
};

const findMissing = async (connection: Connection, namespace: string): Promise<readonly string[]> => {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  return Object.values(SEARCH_ATTRIBUTES).filter((name) => customAttributes[name] === undefined);
};

/** The client's own words are about its gRPC layer; the reason is below them. */
const reasonOf = (error: unknown): string => {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return errorText(cause);
};
