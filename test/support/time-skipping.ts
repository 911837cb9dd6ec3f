import {
  Connection,
  InternalConnectionOptionsSymbol,
  type InternalConnectionOptions,
} from '@temporalio/client/lib/connection';
import { msToTs } from '@temporalio/common/lib/time';
import { TimeSkippingWorkflowClient } from '@temporalio/testing';
import type { SearchAttributeTypes } from '../../cli/stack/search-attributes';
import { findTestServer } from '../../cli/stack/temporal-binary';
import { startTestServer, type TestServer } from '../../cli/stack/test-server';
import { binarySearch } from './service-broker';
import { makeTempDir, removeDir } from './temp-dir';

export interface TimeSkippingServer extends TestServer {
  readonly connection: Connection;
  /** Awaiting a result through it skips time up to the next thing that happens. */
  readonly workflows: TimeSkippingWorkflowClient;
  /** Lets that much of the server's time pass at once, timers included. */
  skip(durationMs: number): Promise<void>;
}

/**
 * A time-skipping server of one's own, as skipping is a state of the whole server. Stop it in `afterAll`.
 * Not through the SDK's TestWorkflowEnvironment, whose server outlives a jest worker that is killed.
 */
export async function startTimeSkippingServer(
  searchAttributes: SearchAttributeTypes = {},
): Promise<TimeSkippingServer> {
  const logDir = makeTempDir('time-skipping');
  const override = process.env['HOLDFAST_TEMPORAL_TEST_SERVER'];
  const { path } = await findTestServer({ ...binarySearch(), override });
  const server = await startTestServer({ binary: path, logDir, searchAttributes });
  server.process.unref();
  // The test service is offered only to those who ask for it this way, as the SDK's own environment does.
  const options: InternalConnectionOptions = {
    address: server.address,
    [InternalConnectionOptionsSymbol]: { supportsTestService: true },
  };
  const connection = await Connection.connect(options);
  return {
    ...server,
    connection,
    workflows: new TimeSkippingWorkflowClient({ connection, namespace: server.namespace }),
    skip: (durationMs) => skip(connection, durationMs),
    stop: async () => {
      await connection.close();
      await server.stop();
      removeDir(logDir);
    },
  };
}

async function skip({ testService }: Connection, durationMs: number): Promise<void> {
  if (testService === undefined) throw new Error('this connection was not made to a test server');
  await testService.unlockTimeSkippingWithSleep({ duration: msToTs(durationMs) });
}
