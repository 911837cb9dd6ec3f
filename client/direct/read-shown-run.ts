/** What a page shows of a run: one page of its steps, and of all other records only what is looked at. */
import { runBudgets } from '../run-limits';
import { modelUsed } from '../model-used';
import type { DetailsView } from '../schemas/details';
import { RESULT, type ResultView } from '../schemas/result';
import { toAttempt, toDecision, toOperation, toWaitOfRun } from '../views/details-view';
import { toRunView } from '../views/run-view';
import { given } from '../views/time';
import type { StepRange, StepRecords, StepSpan } from '../../store/reader';
import { EVIDENCE_ID, operationIdOf, parseEvidenceId, placeOf, waitIdOf } from '../../workflows/contract/ids';
import type { RunRef } from '../../workflows/contract/records';
import type { Scope } from './direct-client';
import { readRun } from './read-run';

export const STEPS_OF_PAGE = 25;
/** Far more than a run has open at once. */
const MAX_OPEN_WAITS = 200;

/** A range of steps, and whether there are others on either side. */
export interface StepPage extends StepRange {
  /** The newest step of the run. */
  readonly last: number;
  /** `before` of the page with older steps. */
  readonly older?: number;
  /** `before` of the page with newer steps; `newest` where that is the page without one. */
  readonly newer?: number | 'newest';
}

export interface ShownDetails extends Omit<DetailsView, 'ledger'> {
  /** Undefined before the first step. The attempts and decisions are those of these steps. */
  readonly page: StepPage | undefined;
}

export interface RunAndResult {
  readonly details: ShownDetails;
  readonly result: ResultView | undefined;
}

type ReadScope = Pick<Scope, 'caller' | 'store'>;

/** `before` is the number of a step: those before it are shown, and without it the newest ones. Throws `run.not_found`. */
export const readShownRun = async (scope: ReadScope, run: string, before?: number): Promise<RunAndResult> => {
  const reading = await readRun(scope, run);
  const { store } = scope;
  const { ref } = reading.row;
  const [span, stored, open, unproved, candidate, budgets] = await Promise.all([
    store.reader.stepSpan(ref),
    store.runs.result(ref),
    store.waits.list(ref.tenant, { run: ref.run, state: 'OPEN', limit: MAX_OPEN_WAITS }),
    reading.row.terminal === undefined ? [] : store.reader.unproved(ref),
    store.reader.lastCandidate(ref),
    runBudgets(store, reading.row),
  ]);
  const result = stored && RESULT.parse(stored);
  const page = span && pageOf(span, before);
  const records = page === undefined ? NO_RECORDS : await store.reader.stepRecords(ref, page);
  const evidence = await readEvidence(scope, ref, evidenceIn(records, result));
  const model = await modelUsed(store, ref, candidate === undefined ? [] : [{ candidate }]);
  const operations = [...records.operations, ...unproved, ...evidence.operations];
  return {
    details: {
      run: toRunView(reading),
      ...given({ budgets, model }),
      page,
      attempts: records.attempts.map(toAttempt),
      decisions: records.decisions.map(toDecision),
      operations: [...new Map(operations.map((row) => [row.id, toOperation(row)])).values()],
      waits: [...new Map([...open, ...evidence.waits].map((row) => [row.id, toWaitOfRun(row)])).values()],
    },
    result,
  };
};

const NO_RECORDS: StepRecords = { attempts: [], decisions: [], operations: [] };

export const pageOf = ({ first, last }: StepSpan, before?: number): StepPage => {
  const to = before === undefined ? last : Math.max(first, Math.min(last, before - 1));
  const from = Math.max(first, to - STEPS_OF_PAGE + 1);
  const newerTo = to + STEPS_OF_PAGE;
  return {
    from,
    to,
    last,
    ...(from > first ? { older: from } : {}),
    ...(to < last ? { newer: newerTo < last ? newerTo + 1 : 'newest' } : {}),
  };
};

const evidenceIn = ({ operations }: StepRecords, result: ResultView | undefined): readonly string[] => [
  ...operations.flatMap(({ evidence }) => evidence ?? []),
  ...(result?.claims ?? []).flatMap(({ evidence }) => evidence),
];

/** What links lead to. Evidence of another run is not linked. */
const readEvidence = async ({ store }: ReadScope, { tenant, run }: RunRef, ids: readonly string[]) => {
  const places = [...new Set(ids)]
    .filter((id) => EVIDENCE_ID.test(id))
    .map((id) => placeOf(parseEvidenceId(id)))
    .filter((place) => place.run === undefined);
  const calls = places.filter(({ kind }) => kind === 'call');
  const answers = places.filter(({ kind }) => kind === 'wait');
  const [operations, waits] = await Promise.all([
    store.reader.operations(
      tenant,
      calls.map(({ first, second }) => operationIdOf(run, first, second)),
    ),
    store.reader.waits(
      tenant,
      answers.map(({ first, second }) => waitIdOf(run, first, second)),
    ),
  ]);
  return { operations: [...operations.values()], waits: [...waits.values()] };
};
