import type { Reply } from './model';
import { DeskProblem } from './problem';
import type { DeskStore } from './store';

/**
 * What the desk says about a key, as things stood `lookupLagMs` ago: its look-up reads a copy that lags behind, so
 * something that has just happened is not found, and a job that has just ended is still pending.
 */
export function lookUpOperation(store: DeskStore, key: string, nowMs: number): Reply {
  const seenUntilMs = nowMs - store.settings.lookupLagMs;
  const isSeen = (at: string | undefined): boolean => at !== undefined && Date.parse(at) <= seenUntilMs;

  const effect = store.effects.find((candidate) => candidate.key === key && isSeen(candidate.at));
  if (effect) {
    const job = effect.job && { job: effect.job };
    return ok({ key, status: 'done', effect, ticketVersion: effect.ticketVersion, ...job });
  }
  const job = store
    .jobs()
    .filter((candidate) => candidate.command.key === key && isSeen(candidate.acceptedAt))
    .at(-1);
  if (!job)
    throw new DeskProblem({
      status: 404,
      code: 'operation_not_found',
      detail: `no operation with key ${key} is known`,
    });
  if (!isSeen(job.settledAt)) return ok({ key, status: 'pending', job: job.id });
  const failure = job.failure ?? { code: 'job_cancelled', detail: `job ${job.id} was cancelled` };
  return ok({ key, status: 'failed', job: job.id, failure });
}

const ok = (body: unknown): Reply => ({ status: 200, headers: {}, body });
