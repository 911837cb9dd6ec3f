/** The calls of one candidate, each through the chain in the order in which they were proposed. */
import type { ErrorCode, Failure } from '../../workflows/contract/errors';
import { fingerprintOf, operationIdOf, type Fingerprint, type OperationId } from '../../workflows/contract/ids';
import type { Json } from '../../workflows/contract/json';
import type { Fact, Gap, Plan } from '../../workflows/contract/records';
import type { CandidateCall } from '../model/candidate';
import { takeStart, toWellFormed } from '../context/well-formed';
import { makeFailure } from '../operate/failure';
import { sha256Of, toStorableJson } from '../operate/storable-json';
import type { DecisionLog } from './decision-log';
import type { PlacedFault } from './finding';
import type { PinnedContext, Stopped } from './judgement';
import type { ToolFace } from './known-tool';
import type { LookUps, RecordedOperation } from './look-ups';
import { callFingerprint, type ReadyCall } from './ready-call';
import type { ValidatorSet } from './validator-set';

/** A call as the validators leave it, with everything that its operation's row needs. */
export interface JudgedProposal {
  readonly ordinal: number;
  /** The model's id for it. */
  readonly id: string;
  readonly tool: string;
  readonly effect: 'read' | 'write';
  /** Canonical where the schema took them, else as they were written. */
  readonly args: Json;
  readonly argumentHash: string;
  readonly fingerprint: Fingerprint;
  readonly target?: string;
  readonly expectedVersion?: string;
  readonly isShort: boolean;
  readonly isRepeatable: boolean;
  readonly end: ProposalEnd;
}

export type ProposalEnd =
  | { readonly kind: 'due' }
  | { readonly kind: 'asking'; readonly plan: Plan }
  | { readonly kind: 'standIn'; readonly operation: RecordedOperation }
  | {
      readonly kind: 'ended';
      readonly code: ErrorCode;
      readonly failure: Failure;
      readonly facts: readonly Omit<Fact, 'evidence'>[];
      readonly result: Fingerprint;
    };

type Preparation =
  | { readonly kind: 'ready'; readonly ready: ReadyCall }
  | { readonly kind: 'stopped'; readonly stopped: Stopped; readonly face?: ToolFace };

export interface PreparedCall {
  readonly call: CandidateCall;
  readonly preparation: Preparation;
}

interface Chain {
  readonly context: PinnedContext;
  readonly validators: ValidatorSet;
  readonly log: DecisionLog;
}

/** Known tool → schema → references. */
export const prepareCall = (chain: Chain, call: CandidateCall): PreparedCall => ({
  call,
  preparation: prepareOne(chain, call),
});

const prepareOne = ({ context, validators, log }: Chain, call: CandidateCall): Preparation => {
  const { ordinal } = call;
  const known = log.run(ordinal, validators.knownTool, { context, call });
  if (known.kind !== 'pass') return { kind: 'stopped', stopped: known };
  const face = known.value;
  const schema = log.run(ordinal, validators.schema, { call, face });
  if (schema.kind !== 'pass') return { kind: 'stopped', stopped: schema, face };
  const references = log.run(ordinal, validators.references, { context, ordinal, face, args: schema.value });
  return references.kind === 'pass'
    ? { kind: 'ready', ready: references.value }
    : { kind: 'stopped', stopped: references, face };
};

export interface JudgedCalls {
  readonly judged: readonly JudgedProposal[];
  readonly faults: readonly PlacedFault[];
  /** A choice that a person has to make before any of the calls. */
  readonly ambiguous: Gap | undefined;
}

interface Judging extends Chain {
  readonly calls: readonly PreparedCall[];
  readonly lookUps: LookUps;
}

/** Equivalent → policy → freshness, for those that got so far. */
export const judgeCalls = (judging: Judging): JudgedCalls => {
  const judged: JudgedProposal[] = [];
  const faults: PlacedFault[] = [];
  const choices: Gap[] = [];
  const alive: ReadyCall[] = [];
  for (const { call, preparation } of judging.calls) {
    const result = preparation.kind === 'ready' ? judgeReady(judging, preparation.ready, alive) : preparation;
    if (result.kind === 'cleared') {
      alive.push(result.call);
      judged.push(toCleared(judging.context, call, result));
      continue;
    }
    if (result.stopped.kind === 'fault') faults.push({ ordinal: call.ordinal, fault: result.stopped.fault });
    if (result.stopped.kind === 'ambiguous') choices.push(result.stopped.gap);
    judged.push(toStopped(call, preparation, result.stopped));
  }
  return { judged, faults, ambiguous: choices[0] };
};

interface Cleared {
  readonly kind: 'cleared';
  readonly call: ReadyCall;
  readonly asks: readonly string[];
  readonly repeats: OperationId | undefined;
}

const judgeReady = (
  { context, validators, log, lookUps }: Judging,
  call: ReadyCall,
  earlier: readonly ReadyCall[],
): Cleared | { readonly kind: 'stopped'; readonly stopped: Stopped } => {
  const { ordinal } = call;
  const operations = lookUps.equivalents.find((each) => each.ordinal === ordinal)?.operations ?? [];
  const equivalent = log.run(ordinal, validators.equivalent, { context, call, operations, earlier });
  if (equivalent.kind !== 'pass') return { kind: 'stopped', stopped: equivalent };
  const permission = log.run(ordinal, validators.permission, { context, call });
  if (permission.kind !== 'pass') return { kind: 'stopped', stopped: permission };
  const freshness = log.run(ordinal, validators.freshness, { context, call });
  if (freshness.kind !== 'pass') return { kind: 'stopped', stopped: freshness };
  const asks = [equivalent.asks, permission.asks].filter((reason) => reason !== undefined);
  return { kind: 'cleared', call: freshness.value, asks, repeats: equivalent.value };
};

const toCleared = (context: PinnedContext, { id }: CandidateCall, { call, asks, repeats }: Cleared): JudgedProposal => {
  const plan = asks.length === 0 ? undefined : makePlan(context, { call, asks, repeats });
  return {
    ...fromReady(id, call),
    end: plan === undefined ? { kind: 'due' } : { kind: 'asking', plan },
  };
};

const makePlan = ({ ref, step }: PinnedContext, { call, asks, repeats }: Omit<Cleared, 'kind'>): Plan => ({
  schemaVersion: 1,
  kind: 'approval',
  why: asks.join('; '),
  operations: [
    {
      id: operationIdOf(ref.run, step, call.ordinal),
      tool: call.face.name,
      arguments: call.args,
      ...(call.target === undefined ? {} : { target: call.target }),
      ...(call.expectedVersion === undefined ? {} : { expectedVersion: call.expectedVersion }),
      risk: call.face.risk,
      ...(repeats === undefined ? {} : { repeats }),
    },
  ],
  isComplete: true,
});

const fromReady = (id: string, call: ReadyCall): Omit<JudgedProposal, 'end'> => ({
  ordinal: call.ordinal,
  id,
  tool: call.face.name,
  effect: call.face.effect,
  args: call.args,
  argumentHash: call.argumentHash,
  fingerprint: callFingerprint(call.face.name, call.argumentHash),
  ...(call.target === undefined ? {} : { target: call.target }),
  ...(call.expectedVersion === undefined ? {} : { expectedVersion: call.expectedVersion }),
  isShort: call.face.isShort,
  isRepeatable: call.face.isRepeatable,
});

const MAX_TOOL_NAME = 128;

/** Of a call that never got so far; what it names need not exist, so it counts as a read. */
const fromProposal = (call: CandidateCall, face: ToolFace | undefined): Omit<JudgedProposal, 'end'> => {
  const args = toStorableJson('invalidJson' in call ? { invalidJson: call.invalidJson } : call.input);
  const tool = face?.name ?? toWellFormed(takeStart(call.name, MAX_TOOL_NAME));
  const argumentHash = sha256Of(args);
  return {
    ordinal: call.ordinal,
    id: call.id,
    tool,
    effect: face?.effect ?? 'read',
    args,
    argumentHash,
    fingerprint: callFingerprint(tool, argumentHash),
    isShort: face?.isShort ?? false,
    isRepeatable: face?.isRepeatable ?? false,
  };
};

const toStopped = (call: CandidateCall, preparation: Preparation, stopped: Stopped): JudgedProposal => {
  const proposal =
    preparation.kind === 'ready' ? fromReady(call.id, preparation.ready) : fromProposal(call, preparation.face);
  return { ...proposal, end: endOf(stopped) };
};

const endOf = (stopped: Stopped): ProposalEnd => {
  switch (stopped.kind) {
    case 'standIn':
      return stopped;
    case 'refused': {
      const { code, reason, message, rests, facts } = stopped;
      return { ...endWith(code, reason, makeFailure(code, { message, evidence: rests })), facts };
    }
    case 'fault': {
      const { error, code, message } = stopped.fault;
      return endWith(error, code, makeFailure(error, { message }));
    }
    case 'ambiguous':
      return endWith(
        'OBJECT_AMBIGUOUS',
        'object.ambiguous',
        makeFailure('OBJECT_AMBIGUOUS', { message: stopped.gap.lacks }),
      );
  }
};

/** The same end of the same call repeats, whatever its message says. */
const endWith = (code: ErrorCode, reason: string, failure: Failure): Extract<ProposalEnd, { kind: 'ended' }> => ({
  kind: 'ended',
  code,
  failure,
  facts: [],
  result: fingerprintOf(sha256Of({ code, reason })),
});
