/**
 * A person says, after a run's end, what became of an operation that nobody could prove. It becomes the next version of the
 * result; the terminal stays. While the run goes on such a word is a response to its wait.
 */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { AgentRegistry } from '../definition/registry';
import { createPolicy } from '../policy/create-policy';
import type { OperationRow, RunRow } from '../store/rows';
import type { Store } from '../store/store';
import type { Failure } from '../workflows/contract/errors';
import { parseOperationId, parseRunId, parseTenantId } from '../workflows/contract/ids';
import { RESOLVED_STATES } from '../workflows/contract/reconcile';
import type { Result } from '../workflows/contract/records';
import { requireCallerId } from './caller-id';
import { HoldfastError, type ClientErrorCode } from './errors';
import { parseInput } from './parse-input';
import type { Caller } from './start-request';

export const RESOLVE_REQUEST = z.strictObject({
  /** The sender's own, so that sending it again is the same resolution; else a new one. */
  id: z.string().optional(),
  operation: z.string(),
  state: z.enum(RESOLVED_STATES),
  why: z.string().trim().min(1).max(2_000),
});
export type ResolveRequest = z.input<typeof RESOLVE_REQUEST>;

export interface ResolutionReceipt {
  readonly id: string;
  /** The newest version of the result, which holds it. */
  readonly result: Result;
}

export interface Resolving {
  readonly store: Store;
  /** Whose policies say who may resolve: whoever may answer a wait of kind reconciliation about it. */
  readonly agents?: AgentRegistry;
}

type Word = z.output<typeof RESOLVE_REQUEST> & { readonly id: string };

interface Subject {
  readonly caller: Caller;
  readonly run: RunRow;
  readonly operation: OperationRow;
  readonly word: Word;
}

/** Throws `input.invalid`, `run.not_found`, `operation.not_found`, `resolve.…`; those about the operation are journaled. */
export const resolveOperation = async (
  options: Resolving,
  { caller, run: id }: { readonly caller: Caller; readonly run: string },
  request: ResolveRequest,
): Promise<ResolutionReceipt> => {
  const parsed = parseInput(RESOLVE_REQUEST, request);
  const word = { ...parsed, id: parsed.id ?? `res_${randomUUID()}` };
  requireCallerId('id', word.id);
  const ref = { tenant: parseTenantId(caller.tenant), run: parseRunId(id) };
  const run = await options.store.runs.get(ref);
  if (run === undefined) throw refuse('run.not_found', `run: got ${id}, expected one that exists`);
  const operation = await options.store.operations.get(ref, parseOperationId(word.operation));
  if (operation?.effect !== 'write') {
    throw refuse('operation.not_found', `operation: got ${word.operation}, expected a write of ${id}`);
  }
  const subject: Subject = { caller, run, operation, word };
  try {
    requirePermission(options, subject);
    return { id: word.id, result: await settle(options, subject) };
  } catch (error) {
    if (error instanceof HoldfastError) await noteRefusal(options, subject, error);
    throw error;
  }
};

const refuse = (code: ClientErrorCode, message: string): HoldfastError => new HoldfastError(code, message);

const requirePermission = ({ agents }: Resolving, { caller, run, operation }: Subject): void => {
  const agent = agents?.find(run.agent);
  if (agent === undefined) {
    throw refuse(
      'resolve.agent_unknown',
      `agent: ${run.agent} is not known here, expected a process that has its policy`,
    );
  }
  const { decision, policyIds, errors } = createPolicy(agent.definition.policy).evaluate({
    action: 'respond',
    principal: { subject: caller.subject, roles: caller.roles ?? [] },
    tenant: run.ref.tenant,
    resource: { kind: 'wait', id: operation.id, waitKind: 'reconciliation' },
    context: {
      requester: run.principal.subject,
      agent: run.agent,
      run: run.ref.run,
      tool: operation.tool,
      ...(operation.target === undefined ? {} : { target: operation.target }),
    },
  });
  if (decision === 'allow') return;
  const why = [...policyIds, ...errors].join(', ');
  throw refuse(
    'resolve.not_permitted',
    `${caller.subject} may not resolve ${operation.id}${why === '' ? '' : ` (${why})`}, expected somebody who may answer a reconciliation`,
  );
};

const settle = async ({ store }: Resolving, { caller, run, operation, word }: Subject): Promise<Result> => {
  const { id, state, why } = word;
  const { ref } = run;
  const isDone = state === 'SUCCEEDED';
  const outcome = await store.runs.resolve(ref, {
    operation: operation.id,
    by: { kind: 'person', subject: caller.subject },
    word: {
      id,
      state,
      why,
      ...(isDone ? {} : { code: 'UNAVAILABLE', failure: await store.artifacts.putJson(ref.tenant, toFailure(word)) }),
    },
  });
  switch (outcome.kind) {
    case 'resolved':
    case 'unchanged':
      return outcome.result;
    case 'runNotEnded':
      throw refuse('resolve.run_not_ended', `${ref.run} is ${run.state}, expected a run that has ended`);
    case 'settled':
      throw refuse('resolve.settled', `${operation.id} is ${outcome.state}, expected one whose end nobody has proved`);
    case 'inFlight':
      throw refuse(
        'resolve.in_flight',
        `${operation.id} may still be on its way, expected its dispatch deadline to be over`,
      );
  }
};

/** As a later run is told of it that finds this operation as its own equivalent. */
const toFailure = ({ why }: Word): Failure => ({
  code: 'UNAVAILABLE',
  message: `a person found out that it was not carried out: ${why}`,
  confirmed: { executed: false },
  evidence: [],
  recoveries: [],
});

const noteRefusal = async (
  { store }: Resolving,
  { caller, run, operation, word }: Subject,
  { code }: HoldfastError,
): Promise<void> => {
  const body = {
    kind: 'resolution_refused',
    operation: operation.id,
    state: word.state,
    subject: caller.subject,
    code,
  };
  await store.journal.note(run.ref, { eventId: `resolution_refused:${word.id}:${code}`, body });
};
