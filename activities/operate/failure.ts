/** Failures as the model is told of them: the code, what is known to be true all the same, and what may be tried. */
import type { ErrorCode, Failure } from '../../workflows/contract/errors';
import type { Json } from '../../workflows/contract/json';
import { takeStart, toWellFormed } from '../context/well-formed';

/** What the model may do about it. Nothing here says "try the same again" where that could act twice or loop. */
const RECOVERIES: Readonly<Record<ErrorCode, readonly string[]>> = {
  INVALID_ARGUMENT: ['correct the arguments and call again'],
  NOT_FOUND: [
    'look for the object by another read',
    'ask the user which object is meant',
    "finish with outcome 'cannot'",
  ],
  OBJECT_AMBIGUOUS: ['wait for the answer to the question that names the matches'],
  PERMISSION_DENIED: ['do not call it again: it stays refused', "finish with outcome 'cannot'"],
  STATE_CONFLICT: ['read the object again', 'decide anew from its current version'],
  RATE_LIMITED: ['use other evidence', 'call again in a later step'],
  UNAVAILABLE: ['use other evidence', 'call again in a later step', "finish with outcome 'cannot'"],
  OUTCOME_UNKNOWN: ['do not call it again: its outcome is being found out', 'read the object to see its present state'],
  TOOL_FAULT: ['use another tool', "finish with outcome 'cannot'"],
  DENIED: ['do not propose the same again', 'propose something else', "finish with outcome 'cannot'"],
  EXPIRED: ['propose it again if it is still needed', "finish with outcome 'cannot'"],
  CANCELLED: ['propose it again if it is still needed'],
  SUPERSEDED: ['decide anew from the changed task'],
};

const MAX_MESSAGE_LENGTH = 2_000;

export interface FailureDetails {
  readonly message: string;
  readonly confirmed?: Json;
  readonly evidence?: readonly string[];
}

export const makeFailure = (code: ErrorCode, { message, confirmed, evidence = [] }: FailureDetails): Failure => ({
  code,
  message: toWellFormed(takeStart(message, MAX_MESSAGE_LENGTH)),
  ...(confirmed === undefined ? {} : { confirmed }),
  evidence,
  recoveries: RECOVERIES[code],
});
