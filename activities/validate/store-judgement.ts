/**
 * Writes what was decided and says it to the machine. Everything is insert-once under keys without a seq: judging again
 * writes nothing new, and what no machine event names does not count.
 */
import {
  evidenceIdOf,
  fingerprintOf,
  operationIdOf,
  parseArtifactHash,
  type ArtifactHash,
  type EvidenceId,
} from '../../workflows/contract/ids';
import type { DecisionRow, NewOperation, Settlement } from '../../store/rows';
import type { Verdict } from '../../workflows/contract/activities';
import type { JudgedCall } from '../../workflows/machine/events';
import { createPolicy } from '../../policy/create-policy';
import { storeOutput } from '../operate/check-output';
import { sha256Of, toStorableJson } from '../operate/storable-json';
import type { Judged, Outcome } from './judge';
import type { JudgedProposal } from './judge-calls';
import type { JudgeContext } from './judgement';
import type { JudgeDeps } from './load-judge-context';
import type { LookUps, RecordedOperation } from './look-ups';

type Store = JudgeDeps['store'];

export interface Judgement {
  readonly context: JudgeContext;
  readonly lookUps: LookUps;
  readonly judged: Judged;
}

export const storeJudgement = async (store: Store, judgement: Judgement): Promise<Verdict> => {
  const [verdict] = await Promise.all([
    storeOutcome(store, judgement.context, judgement.judged.outcome),
    storeDecisions(store, judgement),
  ]);
  return verdict;
};

const storeDecisions = async (store: Store, { context, lookUps, judged }: Judgement): Promise<void> => {
  const { ref, step, attempt } = context;
  // An artifact's name is the hash of its canonical bytes: what refers to it need not wait for it.
  const recorded = sha256Of(toStorableJson(lookUps));
  const inputHash = inputHashOf(context, recorded);
  const rows = judged.decisions.map((decision, index): DecisionRow => ({
    step,
    attempt,
    ordinal: decision.ordinal,
    validator: decision.validator,
    validatorVersion: decision.version,
    phase: 'proposal',
    try: 1,
    inputHash,
    verdict: decision.verdict,
    ...(decision.code === undefined ? {} : { code: decision.code }),
    // Once a candidate: from it, context and candidate the judgement can be made again.
    evidence: index === 0 ? { ...decision.evidence, lookUps: recorded } : decision.evidence,
  }));
  await Promise.all([store.artifacts.putJson(ref.tenant, lookUps), store.decisions.record(ref, rows)]);
};

/** Everything that the decisions are a function of, besides the validators themselves. */
const inputHashOf = (context: JudgeContext, lookUps: string): string => {
  const { agent } = context;
  return sha256Of({
    context: context.context,
    candidate: context.candidate,
    planVersion: context.planVersion,
    lookUps,
    agent: agent === undefined ? null : agent.snapshot.version,
    policy: agent === undefined ? null : createPolicy(agent.definition.policy).version,
  });
};

const storeOutcome = async (store: Store, context: JudgeContext, outcome: Outcome): Promise<Verdict> => {
  const put = (value: object): Promise<ArtifactHash> => store.artifacts.putJson(context.ref.tenant, value);
  switch (outcome.kind) {
    case 'calls':
      return { kind: 'callsJudged', calls: await storeCalls(store, context, outcome.calls) };
    case 'question':
      return { kind: 'questionAccepted', question: await put(outcome.question) };
    case 'ambiguous':
      return { kind: 'objectAmbiguous', question: await put(outcome.question) };
    case 'analyse':
      return { kind: 'analyseAccepted' };
    case 'finish':
      return { kind: 'finishAccepted', answer: await put(outcome.answer) };
    case 'blocked':
      return { kind: 'blockConfirmed', code: outcome.block, answer: await put(outcome.answer) };
    case 'rejected':
      return { kind: 'candidateRejected', code: outcome.finding.code, finding: await put(outcome.finding) };
  }
};

const storeCalls = async (
  store: Store,
  context: JudgeContext,
  calls: readonly JudgedProposal[],
): Promise<readonly JudgedCall[]> => {
  const { tenant } = context.ref;
  const [judged] = await Promise.all([
    Promise.all(
      calls.map(async (call) =>
        toJudgedCall(
          call,
          call.end.kind === 'asking' ? await store.artifacts.putJson(tenant, call.end.plan) : undefined,
        ),
      ),
    ),
    Promise.all(calls.map(({ args }) => storeOutput(store, tenant, args))),
    store.operations.create(calls.map((call) => toOperation(context, call))),
  ]);
  await Promise.all(calls.map((call) => settleEnded(store, context, call)));
  return judged;
};

const toOperation = (context: JudgeContext, call: JudgedProposal): NewOperation => ({
  id: operationIdOf(context.ref.run, context.step, call.ordinal),
  ref: context.ref,
  step: context.step,
  ordinal: call.ordinal,
  call: call.id,
  tool: call.tool,
  effect: call.effect,
  // The artifact of the same canonical bytes.
  arguments: parseArtifactHash(call.argumentHash),
  argumentHash: call.argumentHash,
  ...(call.target === undefined ? {} : { target: call.target }),
  ...(call.expectedVersion === undefined ? {} : { expectedVersion: call.expectedVersion }),
  planVersion: context.planVersion,
  ...(call.end.kind === 'standIn' ? { equivalent: call.end.operation.id } : {}),
});

/** A call that ends here has an operation all the same: REFUSED, never sent, with what the model is to be told. */
const settleEnded = async (store: Store, context: JudgeContext, { ordinal, end }: JudgedProposal): Promise<void> => {
  if (end.kind !== 'ended' && end.kind !== 'standIn') return;
  const { ref, step } = context;
  const settlement =
    end.kind === 'standIn' ? settleByOther(end.operation) : await settleByFailure(store, context, { ordinal, end });
  await store.operations.settle(ref, operationIdOf(ref.run, step, ordinal), settlement);
};

/** It stands for the result that is there already; nothing new is done, and no fact is new. */
const settleByOther = ({ raw, output, resultHash, evidence }: RecordedOperation): Settlement => ({
  state: 'REFUSED',
  ...(raw === undefined ? {} : { raw }),
  ...(output === undefined ? {} : { output }),
  ...(resultHash === undefined ? {} : { resultHash }),
  ...(evidence === undefined ? {} : { evidence }),
});

interface Ended {
  readonly ordinal: number;
  readonly end: Extract<JudgedProposal['end'], { kind: 'ended' }>;
}

const settleByFailure = async (
  store: Store,
  { ref, step }: JudgeContext,
  { ordinal, end }: Ended,
): Promise<Settlement> => {
  const failure = await store.artifacts.putJson(ref.tenant, end.failure);
  const base: Settlement = { state: 'REFUSED', code: end.code, failure, resultHash: sha256Of({ result: end.result }) };
  if (end.facts.length === 0) return base;
  // What a fact rests on can be read by its evidence.
  const evidence: EvidenceId = evidenceIdOf(step, ordinal);
  return { ...base, raw: failure, evidence, facts: end.facts.map((fact) => ({ ...fact, evidence })) };
};

const toJudgedCall = (call: JudgedProposal, plan: ArtifactHash | undefined): JudgedCall => ({
  ordinal: call.ordinal,
  tool: call.tool,
  effect: call.effect,
  fingerprint: call.fingerprint,
  ...(call.effect === 'write' && call.target !== undefined ? { object: fingerprintOf(sha256Of(call.target)) } : {}),
  ...(call.isShort ? { isShort: true } : {}),
  ...(call.isRepeatable && call.effect === 'read' ? { isRepeatable: true } : {}),
  ...phaseOf(call, plan),
});

const phaseOf = (
  { end }: JudgedProposal,
  plan: ArtifactHash | undefined,
): Pick<JudgedCall, 'phase' | 'plan' | 'code' | 'result'> => {
  switch (end.kind) {
    case 'due':
      return { phase: 'DUE' };
    case 'asking':
      return { phase: 'ASKING', ...(plan === undefined ? {} : { plan }) };
    case 'standIn': {
      const { resultHash } = end.operation;
      return { phase: 'ENDED', ...(resultHash === undefined ? {} : { result: fingerprintOf(resultHash) }) };
    }
    case 'ended':
      return { phase: 'ENDED', code: end.code, result: end.result };
  }
};
