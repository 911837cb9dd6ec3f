/** How the end of one call reads to the model: `{ evidence?, code?, message?, confirmed?, recoveries?, result | digest }`. */
import { isErrorCode, type ErrorCode } from '../../workflows/contract/errors';
import { waitEvidenceIdOf } from '../../workflows/contract/ids';
import type { Json, JsonObject } from '../../workflows/contract/json';
import type { Finding, Gap } from '../../workflows/contract/records';
import { clipDigest, decodeText, digestText, type ResultDigest } from './digest';
import type { CallPart, ResponsePart } from './load-parts';
import type { Content } from './read-artifact';
import { takeStart, toWellFormed } from './well-formed';

/** Reads on in a result by its evidence id. */
const READ_ON = 'read_evidence';

export const renderEnd = (part: CallPart, limitBytes: number): JsonObject => {
  const { end, failure, response } = part;
  const { code, evidence } = end;
  const isOwnFailure = failure !== undefined && (code === undefined || failure.code === code);
  return {
    ...(evidence === undefined ? {} : { evidence }),
    ...(code === undefined ? {} : { code, message: isOwnFailure ? failure.message : messageOf(code) }),
    ...(failure?.confirmed === undefined ? {} : { confirmed: clipJson(failure.confirmed, limitBytes) }),
    ...(isOwnFailure && failure.evidence.length > 0 ? { rests_on: failure.evidence } : {}),
    ...(isOwnFailure && failure.recoveries.length > 0 ? { recoveries: failure.recoveries } : {}),
    ...(response === undefined ? {} : renderDecision(response, limitBytes)),
    ...renderOutput(part, limitBytes),
  };
};

/** The person's own words; where they approved something else than was proposed, first of all that. */
const renderDecision = (part: ResponsePart, limitBytes: number): JsonObject => {
  const { arguments: approved, reason } = part.wait.response ?? {};
  if (approved === undefined) return { response: renderResponse(part, limitBytes) };
  return {
    approved: 'approved by a person with other arguments than you proposed: only these were used',
    approved_arguments: clipJson(approved, limitBytes),
    approved_by: waitEvidenceIdOf(part.wait.id),
    ...(reason === undefined ? {} : { reason }),
  };
};

const renderOutput = ({ end, output, digest }: CallPart, limitBytes: number): JsonObject => {
  if (digest !== undefined) return { digest: showDigest(clipDigest(digest, limitBytes)) };
  if (output !== undefined) return renderContent(output, limitBytes);
  // Settled by somebody who knew that it was done and not what came back.
  return end.code === undefined ? { result: null } : {};
};

const renderContent = (content: Content, limitBytes: number): JsonObject => {
  const text = decodeText(content.bytes);
  if (content.bytes.length > limitBytes) return { digest: showDigest(digestText(text, { limitBytes, words: [] })) };
  return { result: content.mediaType.startsWith('application/json') ? parseJson(text) : text };
};

const parseJson = (text: string): Json => {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
};

export const showDigest = (digest: ResultDigest): JsonObject => {
  const { bytes, lines } = digest;
  if (digest.kind === 'own') return { bytes, lines, text: digest.text, read_on: READ_ON };
  const { head, tail, matches } = digest;
  const shown = matches.map(({ atByte, text }) => ({ at_byte: atByte, text }));
  return { bytes, lines, head, ...(shown.length === 0 ? {} : { matches: shown }), tail, read_on: READ_ON };
};

/** The value where it fits, else the beginning of its JSON. */
const clipJson = (value: Json, limitBytes: number): Json => {
  const text = JSON.stringify(value);
  return Buffer.byteLength(text) <= limitBytes
    ? value
    : { cut: toWellFormed(takeStart(text, Math.floor(limitBytes / 4))) };
};

const MESSAGES: Readonly<Record<ErrorCode, string>> = {
  INVALID_ARGUMENT: 'an argument is not valid; nothing was sent',
  NOT_FOUND: 'the object does not exist',
  OBJECT_AMBIGUOUS: 'several objects match',
  PERMISSION_DENIED: 'not permitted; the same call will be refused again',
  STATE_CONFLICT: 'the object has changed since it was read; read it again before anything else',
  RATE_LIMITED: 'the other side takes no more calls for now',
  UNAVAILABLE: 'the other side did not answer',
  OUTCOME_UNKNOWN: 'whether it happened is not known; it must not be tried again',
  TOOL_FAULT: 'the tool itself is at fault',
  DENIED: 'a person denied it; nothing was sent',
  EXPIRED: 'nobody answered in time; nothing more was sent',
  CANCELLED: 'it was cancelled',
  SUPERSEDED: 'the plan changed before anything was sent',
};

const messageOf = (code: string): string => (isErrorCode(code) ? MESSAGES[code] : 'it did not end well');

export const renderFinding = (finding: Finding): JsonObject => {
  const { code, message, field, value, expected, gaps } = finding;
  return {
    code,
    message,
    ...(field === undefined ? {} : { field }),
    ...(value === undefined ? {} : { value: clipJson(value, MAX_FINDING_VALUE_BYTES) }),
    ...(expected === undefined ? {} : { expected }),
    ...(gaps === undefined ? {} : { gaps: gaps.map(renderGap) }),
  };
};

const MAX_FINDING_VALUE_BYTES = 2_048;

export const renderGap = ({ name, kind, lacks, needs, candidates }: Gap): JsonObject => ({
  name,
  kind,
  lacks,
  ...(needs === undefined ? {} : { needs }),
  ...(candidates === undefined ? {} : { candidates }),
});

/** A person's response, or that there was none. */
export const renderResponse = ({ wait, question }: ResponsePart, limitBytes: number): JsonObject => ({
  evidence: waitEvidenceIdOf(wait.id),
  wait: wait.kind,
  ...(question === undefined ? {} : { question: question.question, candidates: question.candidates ?? [] }),
  ...(wait.state === 'CONSUMED' && wait.response !== undefined
    ? { response: clipJson(wait.response, limitBytes) }
    : { expired: true, message: 'nobody answered in time' }),
});
