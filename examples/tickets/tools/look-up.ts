/** Asks the desk what became of one operation: by its key, or by the job that it became. */
import { ToolError, type LookUpContext, type LookUpResult } from '../../../index';
import { parseReply, type DeskApi, type DeskReply } from './desk-api';
import { toFailureCode } from './desk-errors';
import { jobShape, operationShape, type DeskEffect, type DeskFailure } from './desk-shapes';
import { parseJson } from './json';

type ToOutput<Output> = (effect: DeskEffect) => Output;

export const lookUpByKey = async <Output>(
  desk: DeskApi,
  { idempotencyKey, signal }: LookUpContext,
  toOutput: ToOutput<Output>,
): Promise<LookUpResult<Output>> => {
  const reply = await ask(desk, `/operations/${encodeURIComponent(idempotencyKey)}`, signal);
  if (reply.kind === 'notFound') return isAbout(reply, 'operation_not_found');
  if (reply.kind === 'cannotTell') return reply;
  const operation = parseReply(operationShape, reply);
  switch (operation.status) {
    case 'done':
      return { kind: 'found', output: toOutput(operation.effect), raw: reply.text };
    case 'pending':
      return { kind: 'running', job: operation.job };
    case 'failed':
      return toFailed(operation.failure);
  }
};

export const lookUpByJob = async <Output>(
  desk: DeskApi,
  { job: id = '', signal }: LookUpContext,
  toOutput: ToOutput<Output>,
): Promise<LookUpResult<Output>> => {
  const reply = await ask(desk, `/jobs/${encodeURIComponent(id)}`, signal);
  if (reply.kind === 'notFound') return isAbout(reply, 'job_not_found');
  if (reply.kind === 'cannotTell') return reply;
  const job = parseReply(jobShape, reply);
  switch (job.status) {
    case 'done':
      return { kind: 'found', output: toOutput(job.effect), raw: reply.text };
    case 'accepted':
    case 'running':
      return { kind: 'running', job: job.job };
    case 'cancelled':
      return { kind: 'cancelled' };
    case 'failed':
      return toFailed(job.failure);
  }
};

/** A job that is settled, or cannot be cancelled, answers 409: the poll tells what became of it. */
export const cancelJob = async (desk: DeskApi, { job, signal }: LookUpContext): Promise<void> => {
  if (job === undefined) return;
  try {
    await desk.send(`/jobs/${encodeURIComponent(job)}/cancel`, { method: 'POST', signal });
  } catch (error) {
    if (!(error instanceof ToolError && error.code === 'STATE_CONFLICT')) throw error;
  }
};

type Asked =
  | ({ readonly kind: 'answer' } & DeskReply)
  | { readonly kind: 'notFound'; readonly raw: string }
  | { readonly kind: 'cannotTell'; readonly why: string };

/** A desk that is away or refuses to say has proved nothing. */
const ask = async (desk: DeskApi, path: string, signal: AbortSignal): Promise<Asked> => {
  try {
    return { kind: 'answer', ...(await desk.send(path, { signal })) };
  } catch (error) {
    if (error instanceof ToolError && error.code === 'NOT_FOUND') {
      return { kind: 'notFound', raw: error.details.raw ?? '' };
    }
    return { kind: 'cannotTell', why: error instanceof Error ? error.message : String(error) };
  }
};

/** Any 404 (a wrong path, a proxy) must not pass for the desk's word that it never heard of this operation. */
const isAbout = (
  { raw }: { readonly raw: string },
  code: 'operation_not_found' | 'job_not_found',
): { readonly kind: 'notFound' } | { readonly kind: 'cannotTell'; readonly why: string } =>
  codeOf(raw) === code ? { kind: 'notFound' } : { kind: 'cannotTell', why: `a 404 that is not ${code}` };

const codeOf = (raw: string): unknown => {
  const body = parseJson(raw);
  return typeof body === 'object' && body !== null && 'code' in body ? body.code : undefined;
};

const toFailed = <Output>(failure: DeskFailure): LookUpResult<Output> =>
  failure.code === 'job_cancelled'
    ? { kind: 'cancelled' }
    : { kind: 'failed', code: toFailureCode(failure), message: `${failure.code}: ${failure.detail}` };
