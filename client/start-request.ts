/** What a caller sends to start a run, checked at the edge. */
import { createHash, randomUUID } from 'node:crypto';
import canonicalize from 'canonicalize';
import { z } from 'zod';
import type { NewRun } from '../store/rows';
import { parseTenantId, type RunId } from '../workflows/contract/ids';
import { HoldfastError } from './errors';
import { AGENT_NAME, JSON_OBJECT } from './schemas/common';

export const START_REQUEST = z.strictObject({
  agent: AGENT_NAME,
  goal: z.string().min(1).max(20_000),
  data: JSON_OBJECT.default({}),
  limits: z
    .strictObject({
      maxSteps: z.int().positive().optional(),
      maxTokens: z.int().positive().optional(),
      maxCostMicros: z.int().positive().optional(),
      maxToolCalls: z.int().positive().optional(),
      deadlineMs: z.int().positive().optional(),
    })
    .optional(),
});
export type StartRequest = z.input<typeof START_REQUEST>;

export interface Caller {
  readonly tenant: string;
  readonly subject: string;
  readonly roles?: readonly string[];
}

/** Throws HoldfastError `input.invalid`, naming the field, the value and what was expected. */
export const toNewRun = (caller: Caller, request: StartRequest, idempotencyKey?: string): NewRun => {
  const parsed = START_REQUEST.safeParse(request);
  if (!parsed.success) throw invalid(parsed.error, request);
  const { agent, goal, data, limits } = parsed.data;
  const tenant = parseTenantId(caller.tenant);
  return {
    ref: { tenant, run: runIdOf(tenant, idempotencyKey) },
    agent,
    principal: { subject: caller.subject, roles: caller.roles ?? [] },
    task: { goal, data },
    bodyHash: sha256(canonicalize({ agent, goal, data, limits: limits ?? null }) ?? ''),
    ...(limits === undefined ? {} : { limits: withoutUndefined(limits) }),
  };
};

const withoutUndefined = (limits: Readonly<Record<string, number | undefined>>): Record<string, number> =>
  Object.fromEntries(Object.entries(limits).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** With a key the id is the same for every caller that repeats it; 32 hex digits keep two keys apart. */
const runIdOf = (tenant: string, idempotencyKey: string | undefined): RunId =>
  parseRunIdOf(idempotencyKey === undefined ? randomUUID() : sha256(`${tenant}\n${idempotencyKey}`).slice(0, 32));

const parseRunIdOf = (suffix: string): RunId => `run_${suffix}` as RunId;

const invalid = (error: z.ZodError, request: unknown): HoldfastError => {
  const [issue] = error.issues;
  const field = issue?.path.map(String).join('.') ?? '';
  const value = issue?.path.reduce<unknown>((at, key) => (isRecord(at) ? at[key] : undefined), request);
  return new HoldfastError('input.invalid', `${field || 'request'}: got ${show(value)}, ${issue?.message ?? ''}`, {
    field,
  });
};

const isRecord = (value: unknown): value is Record<PropertyKey, unknown> => typeof value === 'object' && value !== null;

const show = (value: unknown): string => (value === undefined ? 'nothing' : JSON.stringify(value).slice(0, 200));
