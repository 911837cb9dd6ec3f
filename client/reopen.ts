/**
 * Goes on where a run has ended, in a new run: with its facts, its operations and what it has spent. The runs of such a chain
 * follow each other, one at a time, so that what one of them has done is known to all that come after.
 */
import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { z } from 'zod';
import type { AgentRegistry } from '../definition/registry';
import { createPolicy } from '../policy/create-policy';
import type { NewRun, RunRow } from '../store/rows';
import type { Store } from '../store/store';
import { parseRunId, parseTenantId, type RunId } from '../workflows/contract/ids';
import type { RunRef } from '../workflows/contract/records';
import { isUnproved } from '../workflows/machine/operation-transitions';
import { HoldfastError, type ClientErrorCode } from './errors';
import { parseInput } from './parse-input';
import { JSON_OBJECT } from './schemas/common';
import type { Caller } from './start-request';

const limit = z.exactOptional(z.int().positive());

export const REOPEN_REQUEST = z.strictObject({
  /** Absent: as before. */
  goal: z.string().min(1).max(20_000).optional(),
  data: JSON_OBJECT.optional(),
  /** For the whole chain, what was spent before included. Above the agent's own only where the policy permits `extend`. */
  limits: z
    .strictObject({ maxSteps: limit, maxTokens: limit, maxCostMicros: limit, maxToolCalls: limit, deadlineMs: limit })
    .optional(),
});
export type ReopenRequest = z.input<typeof REOPEN_REQUEST>;
type Limits = NonNullable<z.output<typeof REOPEN_REQUEST>['limits']>;

export interface Reopening {
  readonly store: Store;
  /** Whose limits count, and whose policies say who may exceed them. */
  readonly agents?: AgentRegistry;
  /** Starts the workflow of a row; idempotent. */
  readonly startWorkflow: (row: RunRow) => Promise<void>;
}

/** Throws `input.invalid`, `run.not_found`, `reopen.…`. The same request again is the same run. */
export const reopenRun = async (
  options: Reopening,
  { caller, run }: { readonly caller: Caller; readonly run: string },
  request: ReopenRequest,
): Promise<RunRow> => {
  const asked = parseInput(REOPEN_REQUEST, request);
  const ref: RunRef = { tenant: parseTenantId(caller.tenant), run: parseRunId(run) };
  const old = await options.store.runs.get(ref);
  if (old === undefined) throw refuse('run.not_found', `run: got ${run}, expected one that exists`);
  await requireOver(options, old);
  const { goal = old.task.goal, data = old.task.data, limits = {} } = asked;
  const next: NewRun = {
    ref: { tenant: ref.tenant, run: successorOf(ref) },
    agent: old.agent,
    principal: { subject: caller.subject, roles: caller.roles ?? [] },
    task: { goal, data },
    bodyHash: sha256(canonicalize({ reopens: ref.run, goal, data, limits }) ?? ''),
    reopens: ref.run,
    ...splitLimits(options, { caller, old }, limits),
  };
  const { row } = await options.store.runs.start(next);
  if (row.bodyHash !== next.bodyHash) {
    throw refuse(
      'reopen.reopened_already',
      `${run} is reopened by ${row.ref.run} with another task or other limits, expected the same: go on with that run`,
    );
  }
  if (row.state === 'STARTING') await options.startWorkflow(row);
  return row;
};

const refuse = (code: ClientErrorCode, message: string): HoldfastError => new HoldfastError(code, message);

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** A run has one successor. Its id is none that an idempotency key of a start leads to. */
const successorOf = ({ tenant, run }: RunRef): RunId =>
  parseRunId(`run_${sha256(`${tenant}\0reopens\0${run}`).slice(0, 32)}`);

/** Once a run has ended its operations only ever get their ends, so what holds here goes on holding. */
const requireOver = async ({ store }: Reopening, { ref, state, terminal }: RunRow): Promise<void> => {
  if (terminal === undefined) {
    throw refuse('reopen.run_not_ended', `${ref.run} is ${state}, expected a run that has ended`);
  }
  const open = (await store.operations.list(ref)).filter((operation) => isUnproved(operation.state));
  if (open.length === 0) return;
  const named = open.map((operation) => `${operation.id} (${operation.tool}: ${operation.state})`).join(', ');
  throw refuse(
    'reopen.operation_unknown',
    `${ref.run}: nobody knows yet what became of ${named}, expected every end to be known: it is being found out, or resolve it`,
  );
};

interface Asking {
  readonly caller: Caller;
  readonly old: RunRow;
}

/** The smaller ones narrow, as at every start; the larger ones take the place of the agent's own. */
const splitLimits = (options: Reopening, asking: Asking, limits: Limits): Pick<NewRun, 'limits' | 'extension'> => {
  const given = Object.entries(limits);
  if (given.length === 0) return {};
  const own: Readonly<Record<string, unknown>> = { ...options.agents?.find(asking.old.agent)?.snapshot.limits };
  const isLarger = ([name, value]: readonly [string, number]): boolean => !(value <= Number(own[name]));
  const larger = Object.fromEntries(given.filter(isLarger));
  const smaller = Object.fromEntries(given.filter((each) => !isLarger(each)));
  const hasLarger = Object.keys(larger).length > 0;
  if (hasLarger) requireExtension(options, asking, larger);
  return {
    ...(Object.keys(smaller).length === 0 ? {} : { limits: smaller }),
    ...(hasLarger ? { extension: larger } : {}),
  };
};

const requireExtension = (
  { agents }: Reopening,
  { caller, old }: Asking,
  larger: Readonly<Record<string, number>>,
): void => {
  const names = Object.keys(larger).join(', ');
  const agent = agents?.find(old.agent);
  if (agent === undefined) {
    throw refuse(
      'reopen.limits_not_permitted',
      `limits: ${names}: ${old.agent} is not known here, expected a process that has its limits and its policy`,
    );
  }
  const { decision, policyIds, errors } = createPolicy(agent.definition.policy).evaluate({
    action: 'extend',
    principal: { subject: caller.subject, roles: caller.roles ?? [] },
    tenant: old.ref.tenant,
    resource: { kind: 'agent', name: old.agent },
    context: { limits: larger, requester: old.principal.subject, run: old.ref.run },
  });
  if (decision === 'allow') return;
  const why = [...policyIds, ...errors].join(', ');
  throw refuse(
    'reopen.limits_not_permitted',
    `limits: ${caller.subject} may not exceed ${names} of ${old.agent}${why === '' ? '' : ` (${why})`}, expected no more than its own`,
  );
};
