import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import type { CallbackSender } from '../core/callbacks';
import type { Clock, Scheduler } from '../core/clock';
import type { FaultBook } from '../core/faults';
import type { Jobs } from '../core/jobs';
import type { RequestLog } from '../core/request-log';
import type { DeskStore } from '../core/store';

/** The parts of one desk. */
export interface DeskParts {
  readonly store: DeskStore;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly faults: FaultBook;
  readonly requests: RequestLog;
  readonly sender: CallbackSender;
  readonly jobs: Jobs;
}

export interface DeskEnv {
  Bindings: Partial<HttpBindings>;
  Variables: { isDropped?: true };
}

export type DeskContext<Path extends string = string> = Context<DeskEnv, Path>;
