/**
 * What trying again cannot help: a row that is missing, the same key with other content, an artifact that nobody can read.
 * Our own bugs, or somebody's hand in the database. The run is not ended for it: it stops where it is, loudly, and goes on
 * once a mended build or a mended row lets it.
 *
 *   local activity     its workflow task fails: the engine shows it, and tries it again with its own growing back-off
 *   regular activity   stays pending with its failure shown, and is tried again ever more rarely
 */
import { activityInfo, ApplicationFailure } from '@temporalio/activity';
import type { ActivityExecuteInput, ActivityInboundCallsInterceptor, Next } from '@temporalio/worker';
import type { Logger } from 'pino';
import type { WorkerMetrics } from './metrics';

const FIRST_RETRY_MS = 2_000;
const LONGEST_RETRY_MS = 120_000;

export class Alarm implements ActivityInboundCallsInterceptor {
  constructor(
    private readonly log: Logger,
    private readonly metrics?: Pick<WorkerMetrics, 'stuck'>,
  ) {}

  async execute(input: ActivityExecuteInput, next: Next<ActivityInboundCallsInterceptor, 'execute'>): Promise<unknown> {
    try {
      return await next(input);
    } catch (error) {
      throw isHopeless(error) ? this.raise(error) : error;
    }
  }

  private raise(error: Hopeless): ApplicationFailure {
    const { activityType, workflowExecution, attempt, isLocal } = activityInfo();
    const context = { activity: activityType, run: workflowExecution?.workflowId, attempt, code: error.code };
    this.log.error({ ...context, err: error }, 'a run cannot go on');
    this.metrics?.stuck({ activity: activityType, code: error.code });
    const told = { message: error.message, type: error.code, cause: error };
    return isLocal
      ? ApplicationFailure.create({ ...told, nonRetryable: true })
      : ApplicationFailure.create({ ...told, nextRetryDelay: retryDelayMs(attempt) });
  }
}

const retryDelayMs = (attempt: number): number =>
  Math.min(FIRST_RETRY_MS * 2 ** Math.min(attempt - 1, 16), LONGEST_RETRY_MS);

interface Hopeless extends Error {
  readonly code: string;
  readonly isRetryable: false;
}

/** By what it says of itself: it may come from any layer. */
const isHopeless = (error: unknown): error is Hopeless =>
  error instanceof Error && 'isRetryable' in error && error.isRetryable === false && 'code' in error;
