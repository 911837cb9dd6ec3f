/** Runs as a library: start, look, cancel, change the plan, read the result. Works on the store and on Temporal directly. */
import type { AgentRegistry } from '../definition/registry';
import { startWorkflow, type StartTarget } from '../relays/start-workflow';
import type { AttemptRow, DecisionRow, JournalEntry, NewRun, OperationRow, RunRow, WaitRow } from '../store/rows';
import type { LedgerEntry, RunFilter, Store } from '../store/store';
import { parseRunId, parseTenantId } from '../workflows/contract/ids';
import { QUERIES, SIGNALS, type Snapshot } from '../workflows/contract/messages';
import type { Result, RunRef } from '../workflows/contract/records';
import type { Totals } from '../workflows/machine/ledger';
import { isEngineAway } from './engine-away';
import { HoldfastError } from './errors';
import { sendMessage, type Message, type MessageReceipt } from './messages';
import { signalRun } from './signal-run';
import { toNewRun, type Caller, type StartRequest } from './start-request';

export interface RunsOptions extends StartTarget {
  readonly store: Store;
  /** Where it is given, a run of any other agent is refused at once; else a worker finds out, and the run fails. */
  readonly agents?: AgentRegistry;
}

/** Everything that is recorded of a run, for people who want to understand it. */
export interface RunDetails {
  readonly row: RunRow;
  readonly totals: Totals;
  readonly attempts: readonly AttemptRow[];
  readonly decisions: readonly DecisionRow[];
  readonly operations: readonly OperationRow[];
  readonly waits: readonly WaitRow[];
  readonly ledger: readonly LedgerEntry[];
}

/** How long a query may wait for a worker. */
const QUERY_TIMEOUT_MS = 5_000;
/** How long a start waits for Temporal before it leaves it to a relay. */
const START_TIMEOUT_MS = 5_000;

export class Runs {
  constructor(private readonly options: RunsOptions) {}

  /**
   * Writes the run row, then starts its workflow. With an idempotency key: the same key and body give the same run, another
   * body is `run.body_differs`. Where Temporal is away the row stays, and a relay starts it later. Throws
   * `start.agent_unknown` for an agent that is not served here.
   */
  async start(
    caller: Caller,
    request: StartRequest,
    options: { readonly idempotencyKey?: string } = {},
  ): Promise<RunRow> {
    const run = toNewRun(caller, request, options.idempotencyKey);
    await this.requireAgent(run);
    return this.startNew(run);
  }

  /** Throws `run.not_found`, for another tenant's run as for none at all. */
  async get(tenant: string, run: string): Promise<RunRow> {
    const row = await this.options.store.runs.get(refOf(tenant, run));
    if (row === undefined) throw new HoldfastError('run.not_found', `run: got ${run}, expected one that exists`);
    return row;
  }

  async details(tenant: string, run: string): Promise<RunDetails> {
    const row = await this.get(tenant, run);
    const { attempts, decisions, operations, waits, ledger } = this.options.store;
    const [attemptRows, decisionRows, operationRows, waitRows, entries, totals] = await Promise.all([
      attempts.list(row.ref),
      decisions.list(row.ref),
      operations.list(row.ref),
      waits.list(row.ref.tenant, { run: row.ref.run, limit: 1000 }),
      ledger.entries(row.ref),
      ledger.totals(row.ref),
    ]);
    return {
      row,
      totals,
      attempts: attemptRows,
      decisions: decisionRows,
      operations: operationRows,
      waits: waitRows,
      ledger: entries,
    };
  }

  list(tenant: string, filter: RunFilter): Promise<{ readonly rows: readonly RunRow[]; readonly cursor?: string }> {
    return this.options.store.runs.list(parseTenantId(tenant), filter);
  }

  /** Journal lines after `after`, in order of position. */
  async events(
    tenant: string,
    run: string,
    page: { readonly after: number; readonly limit: number },
  ): Promise<readonly JournalEntry[]> {
    const row = await this.get(tenant, run);
    return this.options.store.journal.list(row.ref, page);
  }

  /**
   * Undefined until the run has ended. Each version is the same for ever: the first is that of the end, each further one adds
   * what was found out since. Without a number the newest is returned.
   */
  async result(tenant: string, run: string, version?: number): Promise<Result | undefined> {
    const row = await this.get(tenant, run);
    return this.options.store.runs.result(row.ref, version);
  }

  /** The state that the workflow itself holds. Throws `engine.unavailable` where no worker answers in time. */
  async snapshot(tenant: string, run: string): Promise<Snapshot | undefined> {
    const { ref } = await this.get(tenant, run);
    const { temporal } = this.options;
    try {
      return await temporal.connection.withDeadline(Date.now() + QUERY_TIMEOUT_MS, () =>
        temporal.workflow.getHandle(ref.run).query<Snapshot | undefined>(QUERIES.snapshot),
      );
    } catch (error) {
      throw new HoldfastError('engine.unavailable', `no worker answered for ${run} within ${QUERY_TIMEOUT_MS} ms`, {
        cause: error,
      });
    }
  }

  /**
   * From its return on nothing new is sent, whether or not the run could be woken at once. Idempotent; throws `run.ended`
   * where there is nothing to cancel.
   */
  async cancel(tenant: string, run: string): Promise<{ readonly isSignalled: boolean }> {
    const { store, temporal } = this.options;
    const { ref } = await this.get(tenant, run);
    if (!(await store.runs.requestCancel(ref))) throw ended(run);
    return { isSignalled: await signalRun(temporal, ref, { name: SIGNALS.cancel }) };
  }

  /**
   * A message of the kind `amend`, `withdraw` or `new_goal`; any other is `message.kind_unknown`. Its id makes a repeated call
   * the same message. Throws `run.ended`, `run.ending`, `message.wait_not_open`, `message.id_taken`, `input.invalid` as well.
   */
  async message(caller: Caller, run: string, message: Message): Promise<MessageReceipt> {
    const row = await this.get(caller.tenant, run);
    const messaging = { ...this.options, start: (asked: NewRun) => this.startNew(asked) };
    return sendMessage(messaging, { caller, run: row }, message);
  }

  /** A run that has begun goes on being answered for its key, whatever is served by now. */
  private async requireAgent({ ref, agent }: NewRun): Promise<void> {
    const { agents, store } = this.options;
    if (agents === undefined || agents.find(agent) !== undefined || (await store.runs.get(ref)) !== undefined) return;
    const names = [...agents.agents.keys()].join(', ');
    throw new HoldfastError(
      'start.agent_unknown',
      `agent: got ${JSON.stringify(agent)}, expected one that is served here: ${names === '' ? 'none is' : names}`,
      { field: 'agent' },
    );
  }

  private async startNew(asked: NewRun): Promise<RunRow> {
    const { row } = await this.options.store.runs.start(asked);
    if (row.bodyHash !== asked.bodyHash) {
      throw new HoldfastError(
        'run.body_differs',
        `idempotency key: ${row.ref.run} was started with another body, expected the same`,
      );
    }
    if (row.state === 'STARTING') await this.launch(row);
    return row;
  }

  /** With its row a run is started for good: where Temporal does not answer in time, a relay asks it again. */
  private async launch(row: RunRow): Promise<void> {
    const { connection } = this.options.temporal;
    try {
      await connection.withDeadline(Date.now() + START_TIMEOUT_MS, () => startWorkflow(this.options, row));
    } catch (error) {
      if (!isEngineAway(error)) throw error;
    }
  }
}

const refOf = (tenant: string, run: string): RunRef => ({ tenant: parseTenantId(tenant), run: parseRunId(run) });

const ended = (run: string): HoldfastError =>
  new HoldfastError('run.ended', `${run} has ended, expected a run that goes on`);
