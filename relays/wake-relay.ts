/**
 * Signals that are owed and that nobody has seen: whoever wrote the row died before it signalled, or the engine was away.
 * The row goes away when the run reads what it is about; until then it is due again, later and later.
 */
import { isGrpcDeadlineError, isGrpcServiceError, WorkflowNotFoundError } from '@temporalio/client';
import type { Logger } from 'pino';
import type { Wake } from '../store/outside';
import type { Store } from '../store/store';
import { parseOperationId, parseWaitId } from '../workflows/contract/ids';
import { SIGNALS, type RespondSignal, type ToolEventSignal } from '../workflows/contract/messages';
import { startReconcile } from './reconcile-starter';
import type { StartTarget } from './start-workflow';

const BATCH = 50;

/** One pass, of one query where nothing is due. Returns how many were delivered; a failure leaves the row for a later pass. */
export const relayWakes = async (store: Store, target: StartTarget, log: Logger): Promise<number> => {
  const due = await store.wakes.take({ limit: BATCH });
  let delivered = 0;
  for (const wake of due) {
    const about = { run: wake.ref.run, kind: wake.kind, subject: wake.subject, tries: wake.tries };
    try {
      const { connection } = target.temporal;
      await connection.withDeadline(Date.now() + DEADLINE_MS, () => deliver(store, target, wake));
      delivered += 1;
      log.info(about, 'relayed a signal');
    } catch (error) {
      log.warn({ ...about, err: error }, 'could not relay a signal');
      // The rest would only wait for it too; they are due again.
      if (isAway(error)) break;
    }
  }
  return delivered;
};

const isUnavailable = (code: number): boolean => code === 14;

const isAway = (error: unknown): boolean =>
  isGrpcDeadlineError(error) || (isGrpcServiceError(error) && isUnavailable(error.code));

/** Whoever is behind it in the queue must not wait longer for an engine that is away. */
const DEADLINE_MS = 5_000;

const deliver = async (store: Store, target: StartTarget, wake: Wake): Promise<void> => {
  const { ref, kind, subject, terminal } = wake;
  const isOfOperation = kind === 'reconcile' || kind === 'toolEvent';
  if (kind === 'reconcile' || (isOfOperation && terminal !== undefined)) {
    await startReconcile(target, ref, parseOperationId(subject));
  } else if (terminal === undefined) {
    await signal(target, wake);
  } else {
    // An end has made it pointless.
    await store.wakes.seen(ref, kind, subject);
  }
};

/**
 * A workflow that is not there has not been started yet, which is for the relay of starts, or has ended just now: then the
 * row has a terminal when it is due again.
 */
const signal = async ({ temporal }: StartTarget, { ref, kind, subject }: Wake): Promise<void> => {
  const handle = temporal.workflow.getHandle(ref.run);
  try {
    switch (kind) {
      case 'respond': {
        const respond: RespondSignal = { wait: parseWaitId(subject) };
        await handle.signal(SIGNALS.respond, respond);
        return;
      }
      case 'toolEvent': {
        const toolEvent: ToolEventSignal = { operation: parseOperationId(subject) };
        await handle.signal(SIGNALS.toolEvent, toolEvent);
        return;
      }
      case 'message':
      case 'cancel':
        await handle.signal(SIGNALS[kind]);
        return;
      case 'reconcile':
        return;
    }
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
};
