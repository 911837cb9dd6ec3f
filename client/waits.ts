/** Waits as a library: what people are asked, everything that they have to see for it, and their answers. */
import { randomUUID } from 'node:crypto';
import type { AgentRegistry } from '../definition/registry';
import { createPolicy } from '../policy/create-policy';
import { readToolData } from '../responses/pinned-tool';
import { respond } from '../responses/respond';
import { respondRequest } from '../responses/respond-request';
import { showInvisible, showInvisibleIn } from '../responses/show-invisible';
import { makeToken, type TokenKey } from '../responses/token';
import { RowMissing } from '../store/errors';
import type { OperationRow, Principal, ResponseReceipt, ResponseRow, RunRow, WaitRow } from '../store/rows';
import type { WaitFilter } from '../store/outside';
import type { Store } from '../store/store';
import { parseTenantId, parseWaitId, runOfWait, type ArtifactHash, type WaitId } from '../workflows/contract/ids';
import type { Json, JsonObject } from '../workflows/contract/json';
import { SIGNALS } from '../workflows/contract/messages';
import type { StartTarget } from '../relays/start-workflow';
import { requireCallerId } from './caller-id';
import { HoldfastError } from './errors';
import { loadShownPlan, type ShownPlan } from './shown-plan';
import { signalRun } from './signal-run';
import type { Caller } from './start-request';

export interface WaitsOptions extends Pick<StartTarget, 'temporal'> {
  readonly store: Store;
  /** Whose policies say who may answer. Without any, nobody is shown a token and every response is refused. */
  readonly agents?: AgentRegistry;
  /** Where it is given, every response has to bring the token of its wait. */
  readonly tokenKey?: TokenKey;
}

/** Times are ms since the epoch, by the database's clock. */
export interface WaitSummary {
  readonly wait: WaitId;
  readonly run: RunRow['ref']['run'];
  readonly kind: WaitRow['kind'];
  readonly state: WaitRow['state'];
  readonly stateVersion: number;
  readonly planVersion: number;
  readonly operation?: OperationRow['id'];
  /** What the operation would do, where the wait is about one. */
  readonly about?: AboutOperation;
  readonly reason?: string;
  readonly openedAt: number;
  /** Its own expiry, or the deadline of its run where that comes first. */
  readonly expiresAt: number;
  readonly agent: string;
  readonly goal: string;
  /** Who asked for the run. */
  readonly requester: string;
}

export interface AboutOperation {
  readonly tool: string;
  readonly target?: string;
  /** As the run's definition has it; absent where that is not known. */
  readonly risk?: string;
}

export interface WaitDetails extends WaitSummary {
  readonly remainingMs: number;
  readonly planHash: ArtifactHash;
  readonly plan: ShownPlan;
  readonly responseSchema: JsonObject;
  /** JSON Schema of the arguments that an approval may bring in place of those shown. */
  readonly argumentSchema?: JsonObject;
  /** Whether the policy lets this reader answer, and it is still asked. */
  readonly mayRespond: boolean;
  /** For readers who may answer, where tokens are used here. */
  readonly token?: string;
  readonly response?: Json;
  readonly responses: readonly ResponseRow[];
}

export interface WaitResponse {
  /** The sender's own, so that sending it again is the same response; else a new one. */
  readonly id?: string;
  readonly body: Json;
  readonly stateVersion?: number;
  readonly planVersion?: number;
  readonly token?: string;
}

export type Receipt = ResponseReceipt & {
  /** False where the run could not be woken at once: a relay does it. The response counts all the same. */
  readonly isSignalled: boolean;
};

export class Waits {
  constructor(private readonly options: WaitsOptions) {}

  /** Oldest first. */
  async list(
    caller: Caller,
    filter: WaitFilter,
  ): Promise<{ readonly waits: readonly WaitSummary[]; readonly cursor?: string }> {
    const { store } = this.options;
    const tenant = parseTenantId(caller.tenant);
    const { rows, cursor } = await store.waits.page(tenant, filter);
    const named = rows.flatMap(({ operation }) => operation ?? []);
    const [runs, operations] = await Promise.all([
      store.reader.rows(tenant, [...new Set(rows.map(({ ref }) => ref.run))]),
      store.reader.operations(tenant, named),
    ]);
    const risks = new Risks(store);
    const summaries = rows.map(async (row) => {
      const run = runs.get(row.ref.run);
      if (run === undefined) return [];
      const operation = row.operation && operations.get(row.operation);
      return [{ ...toSummary(row, run), ...(operation && { about: await risks.describe(run, operation) }) }];
    });
    const waits = (await Promise.all(summaries)).flat();
    return { waits, ...(cursor === undefined ? {} : { cursor }) };
  }

  /** Throws `wait.not_found`, for another tenant's wait as for none at all. */
  async get(caller: Caller, wait: string): Promise<WaitDetails> {
    const { store, tokenKey } = this.options;
    const { row, remainingMs, run, operation } = await this.load(caller, wait);
    const [plan, responses, argumentSchema, about] = await Promise.all([
      loadShownPlan(store, row),
      store.waits.responses(row.ref, row.id),
      this.argumentSchema(row, run, operation),
      operation && new Risks(store).describe(run, operation),
    ]);
    const mayRespond = row.state === 'OPEN' && this.isPermitted(toPrincipal(caller), { row, run, operation });
    return {
      ...toSummary(row, run),
      ...(about && { about }),
      remainingMs: Math.max(0, Math.floor(remainingMs - (row.expiresAt - lastsUntil(row, run)))),
      planHash: row.plan,
      plan,
      responseSchema: row.responseSchema,
      ...(argumentSchema === undefined ? {} : { argumentSchema }),
      mayRespond,
      ...(mayRespond && tokenKey !== undefined ? { token: makeToken(tokenKey, row) } : {}),
      ...(row.response === undefined ? {} : { response: showInvisibleIn(row.response) }),
      responses,
    };
  }

  /**
   * The verdict comes back at once, whether or not a worker is there; a refusal is a verdict with its code, not an error.
   * Throws `wait.not_found`, `input.invalid`.
   */
  async respond(caller: Caller, wait: string, response: WaitResponse): Promise<Receipt> {
    const { temporal } = this.options;
    const { id = `resp_${randomUUID()}`, ...said } = response;
    requireCallerId('id', id);
    const tenant = parseTenantId(caller.tenant);
    const waitId = parseWaitId(wait);
    const ref = { tenant, run: runOfWait(waitId) };
    const request = { ...said, id, wait: waitId, principal: toPrincipal(caller) };
    const receipt = await respond(this.options, ref, request);
    if (receipt === undefined) throw notFound(wait);
    const isAccepted = receipt.verdict.kind === 'accepted';
    const isSignalled =
      isAccepted && (await signalRun(temporal, ref, { name: SIGNALS.respond, about: { wait: waitId } }));
    return { ...receipt, isSignalled };
  }

  private async load(caller: Caller, wait: string): Promise<Loaded & { readonly remainingMs: number }> {
    const { store } = this.options;
    const id = parseWaitId(wait);
    const ref = { tenant: parseTenantId(caller.tenant), run: runOfWait(id) };
    const [reading, run] = await Promise.all([store.waits.read(ref, id), store.runs.get(ref)]);
    if (reading === undefined || run === undefined) throw notFound(wait);
    const { row, remainingMs } = reading;
    const operation = row.operation === undefined ? undefined : await store.operations.get(ref, row.operation);
    return { row, remainingMs, run, operation };
  }

  private isPermitted(principal: Principal, { row, run, operation }: Loaded): boolean {
    const agent = this.options.agents?.find(run.agent);
    if (agent === undefined) return false;
    const about = operation === undefined ? {} : { operation };
    const request = respondRequest({ principal, run, wait: row, ...about });
    return createPolicy(agent.definition.policy).evaluate(request).decision === 'allow';
  }

  private async argumentSchema(
    { kind, state }: WaitRow,
    run: RunRow,
    operation: OperationRow | undefined,
  ): Promise<JsonObject | undefined> {
    const isEditable = kind === 'approval' && state === 'OPEN' && operation?.state === 'CREATED';
    if (!isEditable) return undefined;
    return (await readToolData(this.options.store, { run, name: operation.tool }))?.inputSchema;
  }
}

interface Loaded {
  readonly row: WaitRow;
  readonly run: RunRow;
  readonly operation: OperationRow | undefined;
}

/** Most runs of a page share their definition: it is read once. */
class Risks {
  private readonly tools = new Map<string, ReturnType<typeof readToolData>>();

  constructor(private readonly store: Store) {}

  async describe(run: RunRow, { tool, target }: OperationRow): Promise<AboutOperation> {
    const key = `${run.definition ?? ''} ${tool}`;
    const reading = this.tools.get(key) ?? orUnknown(readToolData(this.store, { run, name: tool }));
    this.tools.set(key, reading);
    const risk = (await reading)?.risk;
    return {
      tool: showInvisible(tool),
      ...(target === undefined ? {} : { target: showInvisible(target) }),
      ...(risk === undefined ? {} : { risk }),
    };
  }
}

/** A list is shown all the same where somebody has taken a definition away. */
const orUnknown = async <T>(reading: Promise<T>): Promise<T | undefined> => {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof RowMissing) return undefined;
    throw error;
  }
};

const toPrincipal = ({ subject, roles = [] }: Caller): Principal => ({ subject, roles });

const notFound = (wait: string): HoldfastError =>
  new HoldfastError('wait.not_found', `wait: got ${wait}, expected one that exists`);

/** No wait outlives its run: where the run's deadline comes first, that is how long a person has. */
const lastsUntil = ({ state, expiresAt }: WaitRow, { deadlineAt }: RunRow): number =>
  state === 'OPEN' && deadlineAt !== undefined ? Math.min(expiresAt, deadlineAt) : expiresAt;

const toSummary = (row: WaitRow, run: RunRow): WaitSummary => ({
  wait: row.id,
  run: run.ref.run,
  kind: row.kind,
  state: row.state,
  stateVersion: row.seq,
  planVersion: row.planVersion,
  ...(row.operation === undefined ? {} : { operation: row.operation }),
  ...(row.reason === undefined ? {} : { reason: row.reason }),
  openedAt: row.openedAt,
  expiresAt: lastsUntil(row, run),
  agent: run.agent,
  goal: showInvisible(run.task.goal),
  requester: showInvisible(run.principal.subject),
});
