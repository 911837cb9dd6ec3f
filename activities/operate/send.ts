/**
 * The one place that sends. Whoever comes here has won the dispatch of this generation, alone.
 *
 *   1. The abort is armed with what is left to the dispatch deadline before the tool is called.
 *   2. A cancel of the run does not cut it: what has left runs to its deadline, so that its outcome is known.
 *   3. The reply is kept, and the activity beats, while the database is away.
 */
import { ToolError } from '../../definition/tool-error';
import type { ExecuteResult } from '../../definition/tool';
import type { OperationRow } from '../../store/rows';
import type { ActivityDeps } from '../deps';
import { withStoreGrace } from '../with-store-grace';
import { callWithin } from './call-within';
import { learnFromError, learnFromReply, storeLearned, type Known, type Learned } from './learned';
import { recordRefusal } from './refusals';
import { toolContextOf, type LoadedOperation, type PinnedTool } from './load-operation';

export interface Granted {
  readonly row: OperationRow;
  readonly remainingMs: number;
}

export type Sendable = LoadedOperation & { readonly pinned: PinnedTool };

export const send = async (deps: ActivityDeps, operation: Sendable, granted: Granted): Promise<Known> => {
  const { generation } = granted.row;
  const context = { run: operation.ref.run, operation: operation.row.id, tool: operation.row.tool, generation };
  const learned = await learn(deps, operation, granted);
  deps.log.info({ ...context, state: learned.state, code: learned.code }, 'an operation was sent');
  const grace = {
    graceMs: deps.storeGraceMs,
    onWait: (failures: number): void =>
      deps.log.warn({ ...context, failures }, 'a reply is kept until the store answers'),
  };
  return withStoreGrace(grace, async () => {
    const known = await storeLearned(deps, operation, { learned, generation });
    await recordRefusal(deps, operation.ref, { row: known.row, learned, generation });
    return known;
  });
};

const learn = async (deps: ActivityDeps, operation: Sendable, { row, remainingMs }: Granted): Promise<Learned> => {
  const { pinned, evidence } = operation;
  const { generation } = row;
  try {
    const limits = { tool: pinned.tool.name, timeoutMs: remainingMs };
    if (remainingMs <= 0)
      throw new ToolError('UNAVAILABLE', 'its dispatch deadline was over before it could be sent', NOT_SENT);
    const result = await callWithin(limits, (signal) =>
      pinned.tool.execute(pinned.input, toolContextOf(deps, { ...operation, row }, signal)),
    );
    return await learnFromResult({ ...pinned, evidence }, result);
  } catch (error) {
    return learnFromError(error, { generation });
  }
};

const NOT_SENT = { isExecutedPossible: false } as const;

const learnFromResult = async (
  called: Parameters<typeof learnFromReply>[0],
  result: ExecuteResult<unknown>,
): Promise<Learned> => {
  if (result.kind === 'done') return learnFromReply(called, result);
  const { job, raw } = result;
  return { state: 'ACCEPTED', job, ...(raw === undefined ? {} : { raw }) };
};
