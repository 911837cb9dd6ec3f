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
  type OperationId,
  type TenantId,
} from '../../workflows/contract/ids';
import type { Artifact } from '../../store/artifact';
import type { DecisionRow, NewOperation, Settlement } from '../../store/rows';
import type { Verdict } from '../../workflows/contract/activities';
import type { Json } from '../../workflows/contract/json';
import type { JudgedCall } from '../../workflows/machine/events';
import { createPolicy } from '../../policy/create-policy';
import { draftOutput } from '../operate/check-output';
import { sha256Of } from '../operate/storable-json';
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

export const storeJudgement = async (store: Store, { context, lookUps, judged }: Judgement): Promise<Verdict> => {
  const { ref } = context;
  const { outcome } = judged;
  const drafts = new Drafts(store, ref.tenant);
  const verdict = toVerdict(drafts, outcome);
  const calls = outcome.kind === 'calls' ? outcome.calls : [];
  const ends = calls.flatMap((call) => endOf(drafts, context, call));
  const decisions = toDecisions(context, judged, drafts.json(lookUps));
  const operations = calls.map((call) => toOperation(context, call));
  await store.judgements.record(ref, { decisions, operations, artifacts: drafts.all });
  await Promise.all(ends.map(({ id, settlement }) => store.operations.settle(ref, id, settlement)));
  return verdict;
};

/** Artifacts on their way to the statement that stores them with what names them. */
class Drafts {
  readonly all: Artifact[] = [];

  constructor(
    private readonly store: Store,
    private readonly tenant: TenantId,
  ) {}

  json(value: object): ArtifactHash {
    return this.keep(this.store.artifacts.draftJson(this.tenant, value));
  }

  output(value: Json): ArtifactHash {
    return this.keep(draftOutput(this.store, this.tenant, value));
  }

  private keep(draft: Artifact): ArtifactHash {
    this.all.push(draft);
    return draft.hash;
  }
}

const toDecisions = (context: JudgeContext, judged: Judged, lookUps: ArtifactHash): readonly DecisionRow[] => {
  const { step, attempt } = context;
  const inputHash = inputHashOf(context, lookUps);
  return judged.decisions.map((decision, index) => ({
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
    evidence: index === 0 ? { ...decision.evidence, lookUps } : decision.evidence,
  }));
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

const toVerdict = (drafts: Drafts, outcome: Outcome): Verdict => {
  switch (outcome.kind) {
    case 'calls':
      return { kind: 'callsJudged', calls: outcome.calls.map((call) => draftCall(drafts, call)) };
    case 'question':
      return { kind: 'questionAccepted', question: drafts.json(outcome.question) };
    case 'ambiguous':
      return { kind: 'objectAmbiguous', question: drafts.json(outcome.question) };
    case 'analyse':
      return { kind: 'analyseAccepted' };
    case 'finish':
      return { kind: 'finishAccepted', answer: drafts.json(outcome.answer) };
    case 'blocked':
      return { kind: 'blockConfirmed', code: outcome.block, answer: drafts.json(outcome.answer) };
    case 'rejected':
      return { kind: 'candidateRejected', code: outcome.finding.code, finding: drafts.json(outcome.finding) };
  }
};

const draftCall = (drafts: Drafts, call: JudgedProposal): JudgedCall => {
  drafts.output(call.args);
  return toJudgedCall(call, call.end.kind === 'asking' ? drafts.json(call.end.plan) : undefined);
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

interface End {
  readonly id: OperationId;
  readonly settlement: Settlement;
}

/** A call that ends here has an operation all the same: REFUSED, never sent, with what the model is to be told. */
const endOf = (drafts: Drafts, { ref, step }: JudgeContext, { ordinal, end }: JudgedProposal): readonly End[] => {
  if (end.kind !== 'ended' && end.kind !== 'standIn') return [];
  const settlement =
    end.kind === 'standIn' ? settleByOther(end.operation) : settleByFailure(drafts, { step, ordinal, end });
  return [{ id: operationIdOf(ref.run, step, ordinal), settlement }];
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
  readonly step: number;
  readonly ordinal: number;
  readonly end: Extract<JudgedProposal['end'], { kind: 'ended' }>;
}

const settleByFailure = (drafts: Drafts, { step, ordinal, end }: Ended): Settlement => {
  const failure = drafts.json(end.failure);
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
