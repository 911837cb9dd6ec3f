/** Reading runs for one caller: another tenant's are not found. */
import { modelUsed } from '../model-used';
import { runBudgets } from '../run-limits';
import { HoldfastError } from '../errors';
import { parseInput } from '../parse-input';
import type { DetailsView } from '../schemas/details';
import { EVENT_QUERY, type EventPage, type EventQuery } from '../schemas/event';
import { RESULT, type ResultView } from '../schemas/result';
import { RUN_QUERY, type RunPage, type RunQuery, type RunView } from '../schemas/run';
import { toAttempt, toDecision, toLedgerEntry, toOperation, toWaitOfRun } from '../views/details-view';
import { toEventView, toListedRun, toRunView } from '../views/run-view';
import { given } from '../views/time';
import type { RunReading } from '../../store/reader';
import { parseRunId, parseTenantId } from '../../workflows/contract/ids';
import type { RunRef } from '../../workflows/contract/records';
import type { Scope } from './direct-client';

export const refOf = ({ caller }: Pick<Scope, 'caller'>, run: string): RunRef => ({
  tenant: parseTenantId(caller.tenant),
  run: parseRunId(run),
});

/** Throws `run.not_found`. */
export const readRun = async (scope: Pick<Scope, 'caller' | 'store'>, run: string): Promise<RunReading> => {
  const reading = await scope.store.reader.run(refOf(scope, run));
  if (reading === undefined) throw new HoldfastError('run.not_found', `run: got ${run}, expected one that exists`);
  return reading;
};

export const readSnapshot = async (scope: Scope, run: string): Promise<RunView> => toRunView(await readRun(scope, run));

export const listRuns = async ({ store, caller }: Scope, query: RunQuery): Promise<RunPage> => {
  const { state, agent, search, limit, cursor } = parseInput(RUN_QUERY, query);
  const filter = { limit, ...given({ state, agent, search, cursor }) };
  const page = await store.reader.runs(parseTenantId(caller.tenant), filter);
  return { runs: page.readings.map(toListedRun), ...given({ cursor: page.cursor }) };
};

export const readEvents = async (scope: Scope, run: string, query: EventQuery): Promise<EventPage> => {
  const { after, limit } = parseInput(EVENT_QUERY, query);
  const { row, position } = await readRun(scope, run);
  const entries = await scope.store.journal.list(row.ref, { after, limit });
  const last = entries.at(-1)?.position ?? after;
  return { events: entries.map(toEventView), after: last, isLast: last >= position };
};

export const readResult = async (scope: Scope, run: string): Promise<ResultView | undefined> => {
  const { row } = await readRun(scope, run);
  const result = await scope.store.runs.result(row.ref);
  return result && RESULT.parse(result);
};

export const readDetails = async (scope: Scope, run: string): Promise<DetailsView> => {
  const reading = await readRun(scope, run);
  const { store } = scope;
  const { ref } = reading.row;
  const [attempts, decisions, operations, waits, ledger, budgets] = await Promise.all([
    store.attempts.list(ref),
    store.decisions.list(ref),
    store.operations.list(ref),
    store.waits.list(ref.tenant, { run: ref.run, limit: 1000 }),
    store.ledger.entries(ref),
    runBudgets(store, reading.row),
  ]);
  const model = await modelUsed(store, ref, attempts);
  return {
    run: toRunView(reading),
    ...given({ budgets, model }),
    attempts: attempts.map(toAttempt),
    decisions: decisions.map(toDecision),
    operations: operations.map(toOperation),
    waits: waits.map(toWaitOfRun),
    ledger: ledger.map(toLedgerEntry),
  };
};
