/** Whether Temporal did not answer, as opposed to refusing what it was asked. */
import { ServiceError } from '@temporalio/client';

/** DEADLINE_EXCEEDED and UNAVAILABLE of gRPC. */
const AWAY = new Set<unknown>([4, 14]);

export const isEngineAway = (error: unknown): boolean => error instanceof ServiceError && AWAY.has(codeOf(error.cause));

const codeOf = (cause: unknown): unknown =>
  typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : undefined;
