/** Which failures of the driver mean that the database does not answer now: by class, never by message. */
import { DatabaseError } from 'pg';

/**
 * SQLSTATE classes and codes after which the same call may succeed: connection exceptions, no resources, operator
 * intervention (shutdown, start-up, a statement cancelled for its time), I/O errors, a lock not to be had, sessions ended
 * for idling, and a server that is a standby for now.
 */
const UNAVAILABLE = /^(08...|53...|57...|58...|55P03|25P03|25P04|25006)$/;
const REPEATABLE = new Set(['40001', '40P01']);

export const isAnswer = (error: unknown): error is DatabaseError => error instanceof DatabaseError;

export const isUnavailableAnswer = (error: DatabaseError): boolean => UNAVAILABLE.test(error.code ?? '');

/** A deadlock or a serialization failure: the transaction may be run again as it is. */
export const isRepeatable = (error: unknown): boolean => isAnswer(error) && REPEATABLE.has(error.code ?? '');

/** A statement prepared before a migration changed its table; another connection prepares it anew. */
export const isStalePlan = (error: DatabaseError): boolean => error.code === '0A000';

/** The driver could not even send it: our own bug, not the world's. */
export const isMisuse = (error: unknown): boolean => error instanceof TypeError || error instanceof RangeError;
