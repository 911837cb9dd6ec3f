/** The runtime's own read: a page of what the run has stored itself, by evidence id. Never of another run or tenant. */
import { readEvidenceSchema } from '../../definition/runtime-tools';
import type { Settlement } from '../../store/rows';
import { operationIdOf, parseEvidenceId, placeOf, waitIdOf, type EvidenceId } from '../../workflows/contract/ids';
import type { Json } from '../../workflows/contract/json';
import type { RunRef } from '../../workflows/contract/records';
import { findRunOfEvidence } from '../context/run-of-evidence';
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
  const bytes = await findEvidence(deps, ref, parseEvidenceId(request.evidence));
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

/** The validated output where there is one, else the body as it arrived; of a wait the response. */
const findEvidence = async (deps: ActivityDeps, own: RunRef, id: EvidenceId): Promise<Uint8Array | undefined> => {
  const { store } = deps;
  const place = placeOf(id);
  const { kind, first, second } = place;
  const ref = await findRunOfEvidence(store, own, place);
  if (ref === undefined) return undefined;
  if (kind === 'wait') {
    const wait = await store.waits.read(ref, waitIdOf(ref.run, first, second));
    return wait?.row.response === undefined ? undefined : Buffer.from(canonicalText(wait.row.response), 'utf8');
  }
  const row = await store.operations.get(ref, operationIdOf(ref.run, first, second));
  const hash = row?.output ?? row?.raw;
  return hash === undefined ? undefined : (await store.artifacts.get(ref.tenant, hash))?.bytes;
};
