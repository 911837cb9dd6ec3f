/** Histories of a run as the server has them: one per execution, since a run continues as new. */
import type { Client } from '@temporalio/client';
import type { temporal } from '@temporalio/proto';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';

export type History = temporal.api.history.v1.IHistory;

export interface Execution {
  readonly workflowId: string;
  readonly runId: string;
  readonly history: History;
}

/** Oldest first. Empty where the workflow was never started. */
export const readExecutions = async (temporal: Client, run: string): Promise<readonly Execution[]> => {
  const executions: Execution[] = [];
  let runId: string | undefined = await newestOf(temporal, run);
  while (runId !== undefined && runId !== '') {
    const history: History = await temporal.workflow.getHandle(run, runId).fetchHistory();
    executions.unshift({ workflowId: run, runId, history });
    runId = history.events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId ?? undefined;
  }
  return executions;
};

const newestOf = async (temporal: Client, run: string): Promise<string | undefined> => {
  try {
    return (await temporal.workflow.getHandle(run).describe()).runId;
  } catch {
    return undefined;
  }
};

/** Of one replay worker; throws for the first history that does not replay, naming it. */
export const replayAll = async (bundlePath: string, executions: readonly Execution[]): Promise<void> => {
  quietly();
  const histories = executions.map(({ workflowId, history }) => ({ workflowId, history }));
  for await (const { workflowId, error } of Worker.runReplayHistories(
    { workflowBundle: { codePath: bundlePath } },
    histories,
  )) {
    if (error !== undefined) throw new Error(`the history of ${workflowId} does not replay`, { cause: error });
  }
};

let isQuiet = false;
/** For workers of the test process itself. */
export const quietly = (): void => {
  if (!isQuiet) Runtime.install({ logger: new DefaultLogger('WARN') });
  isQuiet = true;
};

export const MAX_PAYLOAD_BYTES = 64 * 1024;

/** Bytes of the largest payload in it. */
export const largestPayloadOf = (value: unknown): number => {
  if (value === null || typeof value !== 'object') return 0;
  if ('data' in value && value.data instanceof Uint8Array) return value.data.length;
  return Math.max(0, ...Object.values(value).map(largestPayloadOf));
};
