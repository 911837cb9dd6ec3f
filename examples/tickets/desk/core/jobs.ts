/**
 * Work that the desk has accepted and not finished.
 *
 * Invariants:
 * 1. A job's status only moves forward: accepted, running, then one of done, failed, cancelled.
 * 2. The effect and the job's end are one line of the log; so are the acceptance and its recorded reply.
 * 3. An event's callback is owed until it is settled; what is owed is sent again after a restart.
 */
import type { CallbackBody, CallbackSender } from './callbacks';
import { ignoreEndedSleep, type Clock, type Scheduler } from './clock';
import {
  isSettled,
  type CallbackMode,
  type Command,
  type Job,
  type JobEvent,
  type JobEventType,
  type JobOutcome,
  type JobPlan,
  type Reply,
} from './model';
import { DeskProblem } from './problem';
import type { DeskStore } from './store';
import { planEffect, recordReply, type Applied } from './writes';

export interface JobsDependencies {
  readonly store: DeskStore;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly sender: CallbackSender;
}

export interface AcceptOptions {
  readonly plan: JobPlan;
  readonly callback?: { readonly url: string; readonly mode: CallbackMode };
}

export class Jobs {
  readonly #deps: JobsDependencies;

  constructor(deps: JobsDependencies) {
    this.#deps = deps;
  }

  /** Takes up what was open when the desk last stopped. */
  resume(): void {
    for (const job of this.#deps.store.jobs()) {
      for (const event of job.events) if (!event.settled) this.#announce(job, event);
      if (job.status === 'accepted') this.#later(0, () => this.#start(job.id));
      if (job.status === 'running') this.#scheduleEnd(job);
    }
  }

  /** Judges the command now and does it later. With early callbacks the job has run before the caller hears of it. */
  async accept(command: Command, options: AcceptOptions): Promise<Reply> {
    const { store, clock } = this.#deps;
    planEffect(store, command, { nowMs: clock.now() });
    const id = store.nextJobId();
    const reply: Reply = { status: 202, headers: {}, body: { job: id, status: 'accepted' } };
    const recorded = recordReply(command, reply, clock.now());
    const acceptedAt = this.#now();
    const job: Job = { id, status: 'accepted', command, acceptedAt, events: [], ...options };
    const accepted = this.#withEvent(job, 'job.accepted');
    store.commit({ job: accepted, ...(recorded && { recorded }) });
    if (options.callback?.mode.when === 'early') await this.#runEarly(accepted);
    else this.#later(0, () => this.#begin(accepted));
    return reply;
  }

  /** Ends an open job: its effect happens now, unless the outcome is failed or the ticket no longer allows it. */
  finish(id: string, outcome: JobOutcome): Job {
    const job = this.require(id);
    if (isSettled(job))
      throw new DeskProblem({ status: 409, code: 'job_settled', detail: `job ${id} is ${job.status}` });
    const ended = this.#end(job, outcome);
    this.#announceLast(ended);
    return ended;
  }

  cancel(id: string): Job {
    const job = this.require(id);
    if (job.status === 'cancelled') return job;
    if (isSettled(job) || !job.plan.cancellable) {
      const members = { jobStatus: job.status };
      throw new DeskProblem({
        status: 409,
        code: 'job_not_cancellable',
        detail: `job ${id} is ${job.status} and cannot be cancelled`,
        members,
      });
    }
    const cancelled: Job = { ...job, status: 'cancelled', settledAt: this.#now() };
    this.#deps.store.commit({ job: cancelled });
    return cancelled;
  }

  require(id: string): Job {
    const job = this.#deps.store.job(id);
    if (!job) throw new DeskProblem({ status: 404, code: 'job_not_found', detail: `there is no job ${id}` });
    return job;
  }

  #begin(job: Job): void {
    this.#announceLast(job);
    this.#start(job.id);
  }

  #start(id: string): void {
    const job = this.require(id);
    if (job.status !== 'accepted') return;
    const running = this.#withEvent({ ...job, status: 'running' }, 'job.running');
    this.#deps.store.commit({ job: running });
    this.#announceLast(running);
    this.#scheduleEnd(running);
  }

  #scheduleEnd(job: Job): void {
    const { run, outcome } = job.plan;
    if (run === 'manual') return;
    const elapsedMs = this.#deps.clock.now() - Date.parse(job.acceptedAt);
    this.#later(Math.max(0, run - elapsedMs), () => {
      if (!isSettled(this.require(job.id))) this.finish(job.id, outcome);
    });
  }

  /** Runs the job at once and waits until the receiver has every event, or has had its chances. */
  async #runEarly(accepted: Job): Promise<void> {
    const running = this.#withEvent({ ...accepted, status: 'running' }, 'job.running');
    this.#deps.store.commit({ job: running });
    const { run, outcome } = accepted.plan;
    const job = run === 'manual' ? running : this.#end(running, outcome);
    for (const event of job.events) await this.#deliver(job, event);
  }

  #end(job: Job, outcome: JobOutcome): Job {
    const settledAt = this.#now();
    const result = outcome === 'done' ? this.#tryEffect(job) : { code: 'job_failed', detail: 'the work failed' };
    if ('code' in result) {
      const failed = this.#withEvent({ ...job, status: 'failed', settledAt, failure: result }, 'job.failed');
      this.#deps.store.commit({ job: failed });
      return failed;
    }
    const done = this.#withEvent({ ...job, status: 'done', settledAt, effect: result.effect }, 'job.done');
    this.#deps.store.commit({ ...result, job: done });
    return done;
  }

  #tryEffect(job: Job): Applied | { readonly code: string; readonly detail: string } {
    const { store, clock } = this.#deps;
    try {
      return planEffect(store, job.command, { nowMs: clock.now(), job: job.id });
    } catch (error) {
      if (!(error instanceof DeskProblem)) throw error;
      return { code: error.code, detail: error.message };
    }
  }

  #withEvent(job: Job, type: JobEventType): Job {
    const sequence = job.events.length + 1;
    const event: JobEvent = {
      eventId: `evt_${job.id}_${String(sequence)}`,
      type,
      sequence,
      at: this.#now(),
      settled: job.callback === undefined || job.callback.mode.when === 'never',
    };
    return { ...job, events: [...job.events, event] };
  }

  #announceLast(job: Job): void {
    const event = job.events.at(-1);
    if (event) this.#announce(job, event);
  }

  #announce(job: Job, event: JobEvent): void {
    this.#deliver(job, event).catch(ignoreEndedSleep);
  }

  async #deliver(job: Job, event: JobEvent): Promise<void> {
    if (!job.callback || event.settled) return;
    await this.#deps.sender.deliver(job.callback.url, callbackBody(job, event), job.callback.mode);
    const current = this.require(job.id);
    const events = current.events.map((each) => (each.eventId === event.eventId ? { ...each, settled: true } : each));
    this.#deps.store.commit({ job: { ...current, events } });
  }

  #later(delayMs: number, task: () => void): void {
    this.#deps.scheduler.after(delayMs, task);
  }

  #now(): string {
    return new Date(this.#deps.clock.now()).toISOString();
  }
}

export function callbackBody(job: Job, event: Omit<JobEvent, 'settled'>): CallbackBody {
  const { eventId, type, sequence, at } = event;
  const effect = type === 'job.done' && job.effect ? { effect: job.effect } : {};
  return { eventId, job: job.id, key: job.command.key ?? null, type, sequence, at, ...effect };
}
