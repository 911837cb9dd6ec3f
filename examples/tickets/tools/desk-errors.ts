/** The desk's refusals in the runtime's words, by status and by the problem's code; never by its text. */
import { ToolError, type ToolErrorDetails } from '../../../index';
import { parseJson } from './json';
import { problemShape, type DeskFailure, type DeskProblemBody } from './desk-shapes';

type ToolErrorCode = ToolError['code'];

interface Refusal {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export const toToolError = (refusal: Refusal): ToolError => {
  const problem = parseProblem(refusal.text);
  const code = CODE_OF_PROBLEM[problem.code] ?? CODE_OF_STATUS[refusal.status] ?? 'TOOL_FAULT';
  const message = `the desk answered ${String(refusal.status)} ${problem.code}: ${problem.detail}`;
  return new ToolError(code, message, {
    raw: refusal.text,
    ...confirmedOf(code, problem),
    ...(code === 'RATE_LIMITED' || code === 'UNAVAILABLE' ? retryAfterOf(refusal.headers) : {}),
  });
};

/** What a job, or an operation that was looked up, failed of: it is over, so nothing here means "try again". */
export const toFailureCode = ({
  code,
}: DeskFailure): 'INVALID_ARGUMENT' | 'NOT_FOUND' | 'STATE_CONFLICT' | 'UNAVAILABLE' => {
  const known = CODE_OF_PROBLEM[code];
  return known === 'NOT_FOUND' || known === 'STATE_CONFLICT' || known === 'INVALID_ARGUMENT' ? known : 'UNAVAILABLE';
};

const CODE_OF_PROBLEM: Readonly<Record<string, ToolErrorCode | undefined>> = {
  ticket_not_found: 'NOT_FOUND',
  ticket_closed: 'STATE_CONFLICT',
  version_mismatch: 'STATE_CONFLICT',
  team_unknown: 'INVALID_ARGUMENT',
  validation_failed: 'INVALID_ARGUMENT',
  // Our own request was wrong in a way that no arguments of the model can mend.
  idempotency_key_reused: 'TOOL_FAULT',
  idempotency_key_malformed: 'TOOL_FAULT',
  if_match_malformed: 'TOOL_FAULT',
  callback_url_refused: 'TOOL_FAULT',
  callbacks_not_configured: 'TOOL_FAULT',
  route_not_found: 'TOOL_FAULT',
};

const CODE_OF_STATUS: Readonly<Record<number, ToolErrorCode | undefined>> = {
  400: 'INVALID_ARGUMENT',
  401: 'PERMISSION_DENIED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  408: 'UNAVAILABLE',
  409: 'STATE_CONFLICT',
  412: 'STATE_CONFLICT',
  413: 'INVALID_ARGUMENT',
  422: 'INVALID_ARGUMENT',
  429: 'RATE_LIMITED',
  // For a write these leave open whether it was done.
  500: 'UNAVAILABLE',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'UNAVAILABLE',
};

const confirmedOf = (
  code: ToolErrorCode,
  { code: problem, currentVersion }: DeskProblemBody,
): Pick<ToolErrorDetails, 'confirmed'> =>
  code === 'STATE_CONFLICT'
    ? { confirmed: { problem, ...(currentVersion === undefined ? {} : { currentVersion }) } }
    : {};

const parseProblem = (text: string): DeskProblemBody => {
  const parsed = problemShape.safeParse(parseJson(text));
  return parsed.success ? parsed.data : problemShape.parse({});
};

/** RFC 9110, 10.2.3: seconds or a date. What is neither, or in the past, says nothing. */
const retryAfterOf = (headers: Headers): Pick<ToolErrorDetails, 'retryAfterMs'> => {
  const value = headers.get('Retry-After')?.trim() ?? '';
  const ms = /^\d+$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) && ms > 0 ? { retryAfterMs: ms } : {};
};
