/**
 * Candidate → decisions and one action. Pure: `judge(context, candidate, lookUps)` gives the same for the same, under
 * whatever set of validators. It comes in two halves, since what is to be looked up is known only after the first.
 */
import { analyseSchema, askUserSchema, finishSchema, plainAnswer, toAnswer } from '../../definition/runtime-tools';
import type { Answer, Finding, Question } from '../../workflows/contract/records';
import type { z } from 'zod';
import type { CandidateArtifact, CandidateCall } from '../model/candidate';
import { ownValidatorsOf } from './answer-rules';
import type { Block } from './block';
import { createDecisionLog, type Decision, type DecisionLog } from './decision-log';
import { toFinding } from './finding';
import type { Fault, JudgeContext, PinnedContext, Stopped } from './judgement';
import { judgeCalls, prepareCall, type JudgedProposal, type PreparedCall } from './judge-calls';
import type { LookUps, RunStatus } from './look-ups';
import { toChoice } from './question';
import { VALIDATORS, type ValidatorSet } from './validator-set';

/** What the candidate comes to. */
export type Outcome =
  | { readonly kind: 'calls'; readonly calls: readonly JudgedProposal[] }
  | { readonly kind: 'question'; readonly question: Question }
  | { readonly kind: 'ambiguous'; readonly question: Question }
  | { readonly kind: 'analyse' }
  | { readonly kind: 'finish'; readonly answer: Answer }
  | { readonly kind: 'blocked'; readonly block: Block; readonly answer: Answer }
  | { readonly kind: 'rejected'; readonly finding: Finding };

export interface Judged {
  readonly decisions: readonly Decision[];
  readonly outcome: Outcome;
}

type Work =
  | { readonly kind: 'rejected'; readonly finding: Finding }
  | { readonly kind: 'calls'; readonly context: PinnedContext; readonly calls: readonly PreparedCall[] }
  | { readonly kind: 'finish'; readonly context: PinnedContext; readonly answer: Answer }
  | { readonly kind: 'question'; readonly context: PinnedContext; readonly request: z.output<typeof askUserSchema> }
  | { readonly kind: 'analyse'; readonly context: PinnedContext; readonly request: z.output<typeof analyseSchema> };

export interface Prepared {
  readonly decisions: readonly Decision[];
  readonly work: Work;
}

export const judge = (
  context: JudgeContext,
  candidate: CandidateArtifact,
  { lookUps, validators = VALIDATORS }: { readonly lookUps: LookUps; readonly validators?: ValidatorSet },
): Judged => complete(prepare(context, candidate, { run: lookUps.run, validators }), lookUps, validators);

/** Everything that needs no look-up. */
export const prepare = (
  context: JudgeContext,
  candidate: CandidateArtifact,
  { run, validators = VALIDATORS }: { readonly run: RunStatus; readonly validators?: ValidatorSet },
): Prepared => {
  const log = createDecisionLog();
  const work = prepareWork({ context, candidate, run, validators, log });
  return { decisions: log.decisions, work };
};

interface Preparing {
  readonly context: JudgeContext;
  readonly candidate: CandidateArtifact;
  readonly run: RunStatus;
  readonly validators: ValidatorSet;
  readonly log: DecisionLog;
}

const prepareWork = ({ context: given, candidate, run, validators, log }: Preparing): Work => {
  const gate = log.run(0, validators.gate, { context: given, run });
  if (gate.kind !== 'pass') return rejectStopped(gate);
  const context = gate.value;
  const structure = log.run(0, validators.structure, candidate);
  if (structure.kind !== 'pass') return rejectStopped(structure);
  const proposal = structure.value;
  switch (proposal.kind) {
    case 'text':
      return { kind: 'finish', context, answer: plainAnswer(proposal.text) };
    case 'control':
      return prepareControl({ context, validators, log }, proposal.tool, proposal.call);
    case 'calls':
      return {
        kind: 'calls',
        context,
        calls: proposal.calls.map((call) => prepareCall({ context, validators, log }, call)),
      };
  }
};

type Pinned = Omit<Preparing, 'context' | 'candidate' | 'run'> & { readonly context: PinnedContext };

const prepareControl = (
  { context, validators, log }: Pinned,
  tool: 'finish' | 'ask_user' | 'analyse',
  call: CandidateCall,
): Work => {
  const check = <Schema extends z.ZodType>(inputSchema: Schema) => {
    const judgement = log.run(call.ordinal, validators.schema, {
      call,
      face: { name: tool, inputSchema, hash: 'runtime' },
    });
    return judgement.kind === 'pass' ? { kind: 'pass' as const, value: inputSchema.parse(judgement.value) } : judgement;
  };
  switch (tool) {
    case 'finish': {
      const request = check(finishSchema);
      return request.kind === 'pass'
        ? { kind: tool, context, answer: toAnswer(request.value) }
        : rejectStopped(request);
    }
    case 'ask_user': {
      const request = check(askUserSchema);
      return request.kind === 'pass' ? { kind: 'question', context, request: request.value } : rejectStopped(request);
    }
    case 'analyse': {
      const request = check(analyseSchema);
      return request.kind === 'pass' ? { kind: tool, context, request: request.value } : rejectStopped(request);
    }
  }
};

/** The rest, with what was looked up. */
export const complete = (prepared: Prepared, lookUps: LookUps, validators: ValidatorSet = VALIDATORS): Judged => {
  const log = createDecisionLog(prepared.decisions);
  const outcome = completeWork(prepared.work, { lookUps, validators, log });
  return { decisions: log.decisions, outcome };
};

interface Completing {
  readonly lookUps: LookUps;
  readonly validators: ValidatorSet;
  readonly log: DecisionLog;
}

const completeWork = (work: Work, completing: Completing): Outcome => {
  const { validators, log } = completing;
  switch (work.kind) {
    case 'rejected':
      return work;
    case 'calls':
      return completeCalls(work, completing);
    case 'finish':
      return completeFinish(work, completing);
    case 'question': {
      const judgement = log.run(0, validators.question, work);
      return judgement.kind === 'pass' ? { kind: 'question', question: judgement.value } : rejectStopped(judgement);
    }
    case 'analyse': {
      const judgement = log.run(0, validators.analyse, work);
      return judgement.kind === 'pass' ? { kind: 'analyse' } : rejectStopped(judgement);
    }
  }
};

const completeCalls = ({ context, calls }: Extract<Work, { kind: 'calls' }>, completing: Completing): Outcome => {
  const { judged, faults, ambiguous } = judgeCalls({ context, calls, ...completing });
  if (ambiguous !== undefined) return { kind: 'ambiguous', question: toChoice(ambiguous) };
  return faults.length === calls.length
    ? { kind: 'rejected', finding: toFinding(faults) }
    : { kind: 'calls', calls: judged };
};

const NO_LOOK_UPS = {
  evidence: [],
  operations: [],
  hasExpiredWait: false,
  isWithdrawn: false,
  hasForbiddenTool: false,
};

const completeFinish = ({ context, answer }: Extract<Work, { kind: 'finish' }>, completing: Completing): Outcome => {
  const { lookUps, validators, log } = completing;
  const input = { context, answer, lookUps: lookUps.finish ?? NO_LOOK_UPS };
  for (const validator of [...validators.answer, ...ownValidatorsOf(context)]) {
    const judgement = log.run(0, validator, input);
    if (judgement.kind !== 'pass') return rejectStopped(judgement);
  }
  if (answer.outcome === 'cannot') {
    const block = log.run(0, validators.block, input);
    return block.kind === 'pass' ? { kind: 'blocked', block: block.value, answer } : rejectStopped(block);
  }
  const completion = log.run(0, validators.completion, input);
  return completion.kind === 'pass' ? { kind: 'finish', answer } : rejectStopped(completion);
};

const rejectStopped = (stopped: Stopped): Extract<Work, { kind: 'rejected' }> => ({
  kind: 'rejected',
  finding: toFinding([{ ordinal: 0, fault: faultOf(stopped) }]),
});

/** A control action that is refused for another reason than a fault of the model's goes back to it all the same. */
const faultOf = (stopped: Stopped): Fault => {
  if (stopped.kind === 'fault') return stopped.fault;
  if (stopped.kind === 'refused') return { code: stopped.reason, error: stopped.code, message: stopped.message };
  return { code: 'candidate.not_possible', error: 'INVALID_ARGUMENT', message: 'this action is not possible here' };
};
