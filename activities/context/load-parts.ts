/** Reads everything that an addition refers to, side by side. All of it is stored for good, so it is the same for ever. */
import type { WaitRow } from '../../store/rows';
import type { Failure } from '../../workflows/contract/errors';
import type { ArtifactHash, WaitId } from '../../workflows/contract/ids';
import type { Addition, CallEnd, Finding, Question, RunRef } from '../../workflows/contract/records';
import type { ActivityDeps } from '../deps';
import { CANDIDATE, type CandidateArtifact } from '../model/candidate';
import { FAILURE, FINDING, QUESTION, RESULT_DIGEST } from './artifact-shapes';
import type { ResultDigest } from './digest';
import { WaitMissing } from './errors';
import { readArtifact, readContent, type Content } from './read-artifact';

export interface ResponsePart {
  readonly wait: WaitRow;
  /** Of a question that the runtime asked by itself: the model has not seen it. */
  readonly question?: Question;
}

export interface CallPart {
  readonly end: CallEnd;
  /** Either the output or, where that is too large to be shown, its digest. */
  readonly output?: Content;
  readonly digest?: ResultDigest;
  readonly failure?: Failure;
  readonly response?: ResponsePart;
}

type Of<Kind extends Addition['kind']> = Extract<Addition, { kind: Kind }>;

export interface ExchangeParts {
  readonly kind: 'exchange';
  readonly addition: Of<'exchange'>;
  readonly candidate: CandidateArtifact;
  readonly calls: readonly CallPart[];
  readonly finding?: Finding;
  readonly response?: ResponsePart;
}

export type AdditionParts =
  | ExchangeParts
  | { readonly kind: 'response'; readonly response: ResponsePart }
  | { readonly kind: 'finding'; readonly finding: Finding }
  | { readonly kind: 'correction'; readonly addition: Of<'correction'> }
  | { readonly kind: 'message'; readonly addition: Of<'message'> };

/** Where the parts are. */
export type PartsStore = Pick<ActivityDeps['store'], 'artifacts' | 'waits'>;

export const loadParts = async (store: PartsStore, ref: RunRef, addition: Addition): Promise<AdditionParts> => {
  switch (addition.kind) {
    case 'exchange':
      return loadExchange(store, ref, addition);
    case 'response':
      return { kind: 'response', response: await loadResponse(store, ref, addition.wait) };
    case 'finding': {
      const finding = await readArtifact(store, { tenant: ref.tenant, hash: addition.finding }, FINDING);
      return { kind: 'finding', finding };
    }
    case 'correction':
      return { kind: 'correction', addition };
    case 'message':
      return { kind: 'message', addition };
  }
};

const loadExchange = async (store: PartsStore, ref: RunRef, addition: Of<'exchange'>): Promise<ExchangeParts> => {
  const at = (hash: ArtifactHash) => ({ tenant: ref.tenant, hash });
  const [candidate, calls, finding, response] = await Promise.all([
    readArtifact(store, at(addition.candidate), CANDIDATE),
    Promise.all(addition.calls.map((end) => loadCall(store, ref, end))),
    addition.finding === undefined ? undefined : readArtifact(store, at(addition.finding), FINDING),
    addition.wait === undefined ? undefined : loadResponse(store, ref, addition.wait),
  ]);
  return {
    kind: 'exchange',
    addition,
    candidate,
    calls,
    ...(finding === undefined ? {} : { finding }),
    ...(response === undefined ? {} : { response }),
  };
};

const loadCall = async (store: PartsStore, ref: RunRef, end: CallEnd): Promise<CallPart> => {
  const at = (hash: ArtifactHash) => ({ tenant: ref.tenant, hash });
  const [output, digest, failure, response] = await Promise.all([
    end.output === undefined || end.digest !== undefined ? undefined : readContent(store, at(end.output)),
    end.digest === undefined ? undefined : readArtifact(store, at(end.digest), RESULT_DIGEST),
    end.failure === undefined ? undefined : readArtifact(store, at(end.failure), FAILURE),
    end.wait === undefined ? undefined : loadResponse(store, ref, end.wait),
  ]);
  return {
    end,
    ...(output === undefined ? {} : { output }),
    ...(digest === undefined ? {} : { digest }),
    ...(failure === undefined ? {} : { failure }),
    ...(response === undefined ? {} : { response }),
  };
};

const loadResponse = async (store: PartsStore, ref: RunRef, id: WaitId): Promise<ResponsePart> => {
  const read = await store.waits.read(ref, id);
  if (read === undefined) throw new WaitMissing(ref, id);
  const { row } = read;
  if (row.kind !== 'question') return { wait: row };
  const question = await readArtifact(store, { tenant: ref.tenant, hash: row.plan }, QUESTION);
  return question.askedBy === 'runtime' ? { wait: row, question } : { wait: row };
};
