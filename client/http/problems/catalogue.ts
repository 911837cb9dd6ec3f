/**
 * Every problem that the service answers with, by its stable code. The code says what happened and never changes its meaning;
 * `detail` names field, value and expectation and may be worded anew. docs/problems.md is written from this.
 */
import type { HoldfastErrorCode } from '../../errors';

export interface ProblemKind {
  readonly status: number;
  readonly title: string;
  /** What the caller can do about it. */
  readonly advice: string;
}

export type ProblemCode = Exclude<HoldfastErrorCode, 'service.unreachable'>;

const REPEAT = 'Send the request again after `Retry-After` seconds; with the same ids nothing happens twice.';
const READ_AGAIN = 'Read the wait or run again; what was answered is not asked any more.';

export const PROBLEMS: Readonly<Record<ProblemCode, ProblemKind>> = {
  'request.invalid': problem(400, 'The request is not valid', 'Mend what `field` names; `errors` lists every fault.'),
  'request.malformed': problem(400, 'The body is not JSON', 'Send one JSON document in UTF-8.'),
  'request.media_type': problem(415, 'The media type is not accepted', 'Send `Content-Type: application/json`.'),
  'request.too_large': problem(413, 'The body is too large', 'Send less; the limit is in `detail`.'),
  'request.timeout': problem(503, 'The request took too long', REPEAT),
  'request.range': problem(416, 'The range cannot be served', 'Ask for one range of bytes inside the artifact.'),
  'route.not_found': problem(404, 'There is no such resource', 'See /openapi.json for those that there are.'),
  'route.method': problem(405, 'The method is not allowed', 'Use one that `Allow` names.'),
  'cursor.invalid': problem(400, 'The cursor is not one', 'Give the id of an event of this run, or none.'),
  'auth.missing': problem(401, 'No token was given', 'Send `Authorization: Bearer` with a token.'),
  'auth.invalid': problem(401, 'The token is not accepted', 'Get a token from the issuer that this service trusts.'),
  'auth.expired': problem(401, 'The token has expired', 'Get a new one and send the request again.'),
  'auth.forbidden': problem(403, 'The token has none of the roles for this', 'Ask for one of the roles in `detail`.'),
  'rate.limited': problem(429, 'Too many requests', 'Wait for `Retry-After` seconds.'),
  'service.busy': problem(503, 'The service has all the followers it can hold', REPEAT),
  'service.closing': problem(503, 'The service is being stopped', REPEAT),
  internal: problem(500, 'The service failed', 'Report it with `instance`: the log has the cause under that id.'),

  'input.invalid': problem(400, 'The request is not valid', 'Mend what `field` names.'),
  'start.agent_unknown': problem(422, 'The agent is not served here', 'Name one of the agents in `detail`.'),
  'run.not_found': problem(404, 'There is no such run', 'Check the id, and that the token is of the right tenant.'),
  'run.body_differs': problem(409, 'The idempotency key was used with another body', 'Use a new key for a new run.'),
  'run.ended': problem(409, 'The run has ended', 'Read its result; `resolve` and `reopen` are for ended runs.'),
  'run.ending': problem(409, 'The run is ending', 'Wait for its end; `new_goal` and `reopen` go on from there.'),
  'wait.not_found': problem(404, 'There is no such wait', 'Check the id, and that the token is of the right tenant.'),
  'artifact.not_found': problem(404, 'The run names no such artifact', 'Take the hash from a record of this run.'),
  'message.kind_unknown': problem(422, 'The message is of no known kind', 'Send `amend`, `withdraw` or `new_goal`.'),
  'message.wait_not_open': problem(409, 'The wait that the message withdraws is not open', READ_AGAIN),
  'message.id_taken': problem(409, 'The id was used for another message', 'Use a new id for a new message.'),
  'operation.not_found': problem(404, 'The run has no such operation', 'Take the id from a record of this run.'),
  'resolve.run_not_ended': problem(409, 'The run goes on', 'Answer its wait with `respond`, or wait for its end.'),
  'resolve.settled': problem(409, 'The end of the operation is known', 'Read the newest version of the result.'),
  'resolve.in_flight': problem(409, 'The operation may still be on its way', 'Try again after its dispatch deadline.'),
  'resolve.agent_unknown': problem(503, 'This service does not know the agent', REPEAT),
  'resolve.not_permitted': problem(
    403,
    'The policy of the agent denies the resolution',
    'Somebody else has to say it.',
  ),
  'reopen.run_not_ended': problem(409, 'The run goes on', 'Send it a message with `amend`, or wait for its end.'),
  'reopen.operation_unknown': problem(
    409,
    'The end of an operation is not known',
    'Resolve what `detail` names first.',
  ),
  'reopen.reopened_already': problem(409, 'The run is reopened already', 'Go on with the run that `detail` names.'),
  'reopen.limits_not_permitted': problem(403, 'The policy denies more than the limits of the agent', 'Ask for less.'),
  'engine.unavailable': problem(503, 'Temporal does not answer', REPEAT),

  'store.unavailable': problem(503, 'The database does not answer', REPEAT),
  'store.cursor_invalid': problem(400, 'The cursor is not one', 'Give the `cursor` of the page before, or none.'),
  'store.key_too_long': problem(400, 'An id is too long', 'Use a shorter one; the limit is in `detail`.'),
  'store.missing': problem(404, 'What the request is about is not there', 'Check the ids in the request.'),

  'response.run_ended': problem(409, 'The run has ended', READ_AGAIN),
  'response.plan_changed': problem(409, 'The plan has changed since the question was asked', READ_AGAIN),
  'response.wait_void': problem(409, 'Nobody waits for this any more', READ_AGAIN),
  'response.already_decided': problem(409, 'Somebody has answered already', READ_AGAIN),
  'response.expired': problem(409, 'The wait had expired when the response came', READ_AGAIN),
  'response.state_changed': problem(409, 'The response names another version of the wait', READ_AGAIN),
  'response.token_invalid': problem(403, 'The token of the wait is missing or another one', READ_AGAIN),
  'response.too_large': problem(413, 'The response is too large', 'Say it in fewer words; the limit is in `detail`.'),
  'response.invalid': problem(422, 'The response is not what is asked for', 'Mend what `field` names.'),
  'response.agent_unknown': problem(503, 'This service does not know the agent', REPEAT),
  'response.not_permitted': problem(403, 'The policy of the agent denies the response', 'Somebody else has to answer.'),
  'response.edit_invalid': problem(422, 'The edited arguments are not valid', 'Mend what `field` names.'),
  'response.edit_not_permitted': problem(
    403,
    'The policy denies the edited arguments',
    'Edit them otherwise, or deny.',
  ),
  'response.id_taken': problem(409, 'The id was used for another response', 'Use a new id for a new response.'),
};

export const isProblemCode = (code: string): code is ProblemCode => Object.hasOwn(PROBLEMS, code);

function problem(status: number, title: string, advice: string): ProblemKind {
  return { status, title, advice };
}
