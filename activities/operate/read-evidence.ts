/** The runtime's own read: a page of what the run has stored itself, by evidence id. Never of another run or tenant. */
import { readEvidenceSchema } from '../../definition/runtime-tools';
import type { Settlement } from '../../store/rows';
import { operationIdOf, parseWaitId } from '../../workflows/contract/ids';
import type { Json } from '../../workflows/contract/json';
import type { RunRef } from '../../workflows/contract/records';
import type { ActivityDeps } from '../deps';
import { storeOutput } from './check-output';
import { makeFailure } from './failure';
import type { LoadedOperation } from './load-operation';
import { canonicalText, sha256Of } from './storable-json';
import { pageOf } from './text-page';

export const readEvidence = async (
  deps: ActivityDeps,
  { ref, input, evidence }: LoadedOperation,
): Promise<Settlement> => {
  const { store } = deps;
  const request = readEvidenceSchema.parse(input);
  const bytes = await findEvidence(deps, ref, request.evidence);
  if (bytes === undefined) {
    const message = `evidence: ${request.evidence} is none of this run's results, expected an id that was shown with one`;
    const failure = await store.artifacts.putJson(ref.tenant, makeFailure('NOT_FOUND', { message }));
    return {
      state: 'FAILED',
      code: 'NOT_FOUND',
      failure,
      resultHash: sha256Of({ code: 'NOT_FOUND', evidence: request.evidence }),
    };
  }
  const output: Json = { evidence: request.evidence, ...pageOf(bytes, request) };
  return {
    state: 'SUCCEEDED',
    ...(await storeOutput(store, ref.tenant, output)),
    resultHash: sha256Of({ facts: [], output }),
    evidence,
  };
};

/** A response to a run that this one reopens has that run's id with it; operations are numbered on through all of them. */
const EVIDENCE = /^([EW])(\d+)\.(\d+)(?:@(run_[A-Za-z0-9-]{6,64}))?$/;

/** The validated output where there is one, else the body as it arrived; of a wait the response. */
const findEvidence = async (deps: ActivityDeps, own: RunRef, id: string): Promise<Uint8Array | undefined> => {
  const { store } = deps;
  const [, kind, first = '', second = '', of] = EVIDENCE.exec(id) ?? [];
  const ref = await findRunOf(deps, own, { step: kind === 'E' ? Number(first) : undefined, run: of });
  if (ref === undefined) return undefined;
  if (kind === 'W') {
    const wait = await store.waits.read(ref, parseWaitId(`wait_${ref.run.slice('run_'.length)}_${first}_${second}`));
    return wait?.row.response === undefined ? undefined : Buffer.from(canonicalText(wait.row.response), 'utf8');
  }
  const row = await store.operations.get(ref, operationIdOf(ref.run, Number(first), Number(second)));
  const hash = row?.output ?? row?.raw;
  return hash === undefined ? undefined : (await store.artifacts.get(ref.tenant, hash))?.bytes;
};

interface Wanted {
  /** Of an operation: it is of the run that took this step. */
  readonly step: number | undefined;
  /** The run that it names, where it names one. */
  readonly run: string | undefined;
}

/** A chain is short; the limit only keeps a damaged one from being followed for ever. */
const MAX_REOPENED = 100;

const findRunOf = async ({ store }: ActivityDeps, own: RunRef, { step, run }: Wanted): Promise<RunRef | undefined> => {
  let ref = own;
  for (let depth = 0; depth < MAX_REOPENED; depth += 1) {
    if (run === ref.run) return ref;
    const reopens = (await store.runs.get(ref))?.reopens;
    const before = reopens === undefined ? undefined : await store.runs.get({ ...ref, run: reopens });
    const isBefore = before !== undefined && (run !== undefined || (step !== undefined && step <= before.step));
    if (!isBefore) return run === undefined ? ref : undefined;
    ref = before.ref;
  }
  return undefined;
};
