/**
 * Runs that the engine has closed without a terminal: terminated, cancelled by force, timed out or failed by somebody at the
 * server. Their rows get one, so that nobody waits for ever; what was under way is gone after as at every end.
 */
import { WorkflowNotFoundError, type WorkflowExecutionStatusName } from '@temporalio/client';
import type { Logger } from 'pino';
import type { Store } from '../store/store';
import { parseRunId, type RunId } from '../workflows/contract/ids';
import { AGENT_RUN } from '../workflows/contract/messages';
import type { RunRef } from '../workflows/contract/records';
import type { StartTarget } from './start-workflow';

/** By the status that the engine shows. Completed is the workflow's own word: its row has the terminal. */
const REASONS: Readonly<Partial<Record<WorkflowExecutionStatusName, string>>> = {
  TERMINATED: 'engine.terminated',
  FAILED: 'engine.failed',
  TIMED_OUT: 'engine.timed_out',
  CANCELLED: 'engine.cancelled',
};

const QUERY = `WorkflowType = '${AGENT_RUN}' AND ExecutionStatus IN ('Terminated', 'Failed', 'TimedOut', 'Canceled')`;
const PAGE = 200;

/** One pass over those that the engine still remembers: few, since no run ends so by itself. Returns how many were closed. */
export const sweepClosed = async (store: Store, target: StartTarget, log: Logger): Promise<number> => {
  let closed = 0;
  for await (const runs of pagesOf(target)) {
    for (const ref of await store.runs.listUnended(runs)) {
      if (await close(store, target, { ref, log })) closed += 1;
    }
  }
  return closed;
};

async function* pagesOf({ temporal }: StartTarget): AsyncGenerator<readonly RunId[]> {
  let page: RunId[] = [];
  for await (const { workflowId } of temporal.workflow.list({ query: QUERY, pageSize: PAGE })) {
    const run = toRunId(workflowId);
    if (run !== undefined) page.push(run);
    if (page.length < PAGE) continue;
    yield page;
    page = [];
  }
  yield page;
}

/** Somebody may have started a workflow of this type under an id of their own. */
const toRunId = (workflowId: string): RunId | undefined => {
  try {
    return parseRunId(workflowId);
  } catch {
    return undefined;
  }
};

interface Closing {
  readonly ref: RunRef;
  readonly log: Logger;
}

/** The newest execution decides: one that was reset has another behind it, and its list entry is of the one before. */
const close = async (store: Store, { temporal }: StartTarget, { ref, log }: Closing): Promise<boolean> => {
  try {
    const { status, runId: execution } = await temporal.workflow.getHandle(ref.run).describe();
    const reason = REASONS[status.name];
    if (reason === undefined) return false;
    const body = { kind: 'closed_from_outside', status: status.name, execution };
    const end = await store.runs.closeFromOutside(ref, { reason, eventId: `closed:${execution}`, body });
    log.warn({ run: ref.run, ...end }, 'the engine had closed a run');
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    log.warn({ run: ref.run, err: error }, 'could not look after a run that the engine had closed');
    return false;
  }
};
