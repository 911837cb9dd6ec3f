/**
 * The second phase of a start: the run row is there, now its workflow is to be. Workflow id = run id, duplicates rejected,
 * so that whoever repeats it (the caller, another caller with the same key, the relay) starts the same one.
 */
import { WorkflowExecutionAlreadyStartedError, type Client } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType, TypedSearchAttributes } from '@temporalio/common';
import type { RunRow } from '../store/rows';
import type { AgentRunInput } from '../workflows/contract/activities';
import { AGENT_RUN, SEARCH_ATTRIBUTES } from '../workflows/contract/messages';

export interface StartTarget {
  readonly temporal: Client;
  readonly taskQueue: string;
  /** Of the runs that are started; absent: the usual. See AgentRunInput. */
  readonly continueAfterEvents?: number;
}

/** A dead worker's workflow task is given to another after so long (DESIGN.md 14). */
export const WORKFLOW_TASK_TIMEOUT = '3s';

const keyword = (name: string): ReturnType<typeof defineSearchAttributeKey<'KEYWORD'>> =>
  defineSearchAttributeKey(name, SearchAttributeType.KEYWORD);

/** Idempotent. No execution or run time-out and no retry policy at the root: the machine owns every end. */
export const startWorkflow = async (target: StartTarget, row: RunRow): Promise<void> => {
  const { temporal, taskQueue, continueAfterEvents } = target;
  const input: AgentRunInput = {
    schemaVersion: 1,
    ref: row.ref,
    agent: row.agent,
    ...(continueAfterEvents === undefined ? {} : { continueAfterEvents }),
  };
  try {
    await temporal.workflow.start(AGENT_RUN, {
      workflowId: row.ref.run,
      taskQueue,
      args: [input],
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      workflowIdConflictPolicy: 'FAIL',
      workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT,
      memo: { bodyHash: row.bodyHash },
      staticSummary: `${row.agent} for ${row.principal.subject}`,
      typedSearchAttributes: new TypedSearchAttributes([
        { key: keyword(SEARCH_ATTRIBUTES.state), value: 'READY' },
        { key: keyword(SEARCH_ATTRIBUTES.tenant), value: row.ref.tenant },
        { key: keyword(SEARCH_ATTRIBUTES.agent), value: row.agent },
      ]),
    });
  } catch (error) {
    // The row's body hash was compared when it was inserted, so what runs under this id is this run.
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
};
