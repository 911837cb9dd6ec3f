/** A run of the tickets agent in step 3, as a judgement starts from it. */
import { createFactsView } from '../../../../activities/context/facts-view';
import type { CandidateArtifact, CandidateCall, NativeBlock } from '../../../../activities/model/candidate';
import { judge, type Judged, type Outcome } from '../../../../activities/validate/judge';
import type { JudgeContext } from '../../../../activities/validate/judgement';
import type { FinishLookUps, LookUps, RecordedOperation } from '../../../../activities/validate/look-ups';
import type { AgentDefinition } from '../../../../definition/agent';
import { compileAgents } from '../../../../definition/compile-agent';
import {
  evidenceIdOf,
  parseArtifactHash,
  parseOperationId,
  parseRunId,
  parseTenantId,
  type EvidenceId,
} from '../../../../workflows/contract/ids';
import type { Json, JsonObject } from '../../../../workflows/contract/json';
import type { Fact, Gap, Manifest, ShownFact } from '../../../../workflows/contract/records';
import { agentWith } from '../../definition/tools';

export const RUN = parseRunId('run_abcdef');
export const STEP = 3;
const HASH = parseArtifactHash('a'.repeat(64));

export const parseEvidence = (text: string): EvidenceId => text as EvidenceId;
export const operationId = (step: number, ordinal: number, run = 'abcdef') =>
  parseOperationId(`op_${run}_${String(step)}_${String(ordinal)}`);

export const fact = (object: string, field: string, value: Json, more: Partial<Fact> = {}): Fact => ({
  object,
  field,
  value,
  evidence: evidenceIdOf(1, 1),
  ...more,
});

export const TICKET_FACTS: readonly Fact[] = [
  fact('ticket:T100', 'team', 'database', { version: 'v1' }),
  fact('team:network', 'onCall', 'ada', { evidence: evidenceIdOf(2, 1) }),
  fact('team:security', 'onCall', 'bob', { evidence: evidenceIdOf(2, 1) }),
  fact('team:legal', 'onCall', 'eve', { evidence: evidenceIdOf(2, 1) }),
];

export interface Setting {
  readonly agent?: Partial<AgentDefinition>;
  readonly facts?: readonly Fact[];
  readonly shown?: readonly ShownFact[];
  readonly gaps?: readonly Gap[];
  readonly roles?: readonly string[];
  readonly goal?: string;
  readonly data?: JsonObject;
  readonly messages?: readonly JsonObject[];
  readonly planVersion?: number;
  /** Instead of the agent that the run was pinned to. */
  readonly hasAgent?: boolean;
}

export const contextOf = (setting: Setting = {}): JudgeContext => {
  const compiled = compileAgents([agentWith(setting.agent)]).find('tickets');
  if (compiled === undefined) throw new Error('the agent was not compiled');
  const { facts = TICKET_FACTS, gaps = [], planVersion = 1 } = setting;
  const manifest: Manifest = {
    schemaVersion: 1,
    run: RUN,
    step: STEP,
    planVersion,
    adds: [],
    definition: HASH,
    policyVersion: compiled.snapshot.policyVersion,
    model: 'model-1',
    remaining: { steps: 9, tokens: 9, costMicros: 9, toolCalls: 9, deadlineMs: 9 },
    gaps,
    facts: setting.shown ?? facts,
    openOperations: [],
    shrinks: 0,
  };
  return {
    ref: { tenant: parseTenantId('acme'), run: RUN },
    step: STEP,
    attempt: 1,
    planVersion,
    context: HASH,
    candidate: HASH,
    agentName: 'tickets',
    principal: { subject: 'ada', roles: setting.roles ?? ['agent'] },
    agent: setting.hasAgent === false ? undefined : compiled,
    snapshot: compiled.snapshot,
    manifest,
    task: {
      goal: setting.goal ?? 'Reassign the ticket by the on-call rules',
      data: setting.data ?? { ticket: 'T100' },
    },
    facts: createFactsView(facts),
    messages: setting.messages ?? [],
  };
};

export const candidateOf = (changes: Partial<CandidateArtifact> = {}): CandidateArtifact => ({
  schemaVersion: 1,
  run: RUN,
  step: STEP,
  attempt: 1,
  context: HASH,
  stopReason: (changes.calls ?? []).length > 0 ? 'tool_use' : 'end_turn',
  isComplete: true,
  blocks: [],
  calls: [],
  usage: { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0, costMicros: 0, isEstimate: false },
  model: 'model-1',
  ...changes,
});

export type Proposed = readonly [name: string, input: Json];

export const call = ([name, input]: Proposed, ordinal = 1): CandidateCall => ({
  ordinal,
  id: `toolu_${String(ordinal)}`,
  name,
  input,
});

export const proposing = (...proposed: readonly Proposed[]): CandidateArtifact =>
  candidateOf({ calls: proposed.map((each, index) => call(each, index + 1)) });

export const saying = (text: string): CandidateArtifact =>
  candidateOf({ blocks: [{ type: 'text', text }] satisfies NativeBlock[] });

export const NOTHING_FOUND: LookUps = {
  schemaVersion: 1,
  run: { planVersion: 1, isCancelRequested: false, isPastDeadline: false },
  equivalents: [],
};

export const found = (ordinal: number, ...operations: readonly RecordedOperation[]): LookUps => ({
  ...NOTHING_FOUND,
  equivalents: [{ ordinal, operations }],
});

export const finishing = (changes: Partial<FinishLookUps> = {}): LookUps => ({
  ...NOTHING_FOUND,
  finish: {
    evidence: [],
    operations: [],
    hasExpiredWait: false,
    isWithdrawn: false,
    hasForbiddenTool: false,
    ...changes,
  },
});

export const judged = (setting: Setting, candidate: CandidateArtifact, lookUps: LookUps = NOTHING_FOUND): Judged =>
  judge(contextOf(setting), candidate, { lookUps });

export const outcomeOf = (setting: Setting, candidate: CandidateArtifact, lookUps?: LookUps): Outcome =>
  judged(setting, candidate, lookUps).outcome;

/** `rejected candidate.unknown_tool`, `calls due,asking,ended PERMISSION_DENIED`, … */
export const describeOutcome = (outcome: Outcome): string => {
  switch (outcome.kind) {
    case 'rejected':
      return `rejected ${outcome.finding.code}`;
    case 'calls':
      return `calls ${outcome.calls.map(({ end }) => (end.kind === 'ended' ? `ended ${end.code}` : end.kind)).join(',')}`;
    case 'blocked':
      return `blocked ${outcome.block}`;
    default:
      return outcome.kind;
  }
};
