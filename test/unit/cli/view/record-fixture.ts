/** A run's records as the store gives them: T100 with an approval in between. */
import type { RunRecord } from '../../../../cli/view/run-record';
import { parseMachineLine } from '../../../../client/views/machine-line';
import type { AttemptRow, JournalEntry, OperationRow, RunRow } from '../../../../store/rows';
import {
  evidenceIdOf,
  operationIdOf,
  parseArtifactHash,
  parseRunId,
  parseTenantId,
  parseWaitId,
} from '../../../../workflows/contract/ids';

export const START = Date.parse('2026-05-04T10:00:00.000Z');

const ref = { tenant: parseTenantId('default'), run: parseRunId('run_4f3c2a') };
const HASH = parseArtifactHash('a'.repeat(64));
export const WAIT = parseWaitId('wait_4f3c2a_3_0');

export const machineEntry = (position: number, body: Record<string, unknown>, afterMs = 0): JournalEntry => ({
  position,
  kind: 'machine',
  seq: position,
  body: JSON.parse(JSON.stringify({ seq: position, at: START + afterMs, cause: {}, ...body })) as JournalEntry['body'],
  recordedAt: START + afterMs,
});

const row: RunRow = {
  ref,
  agent: 'tickets',
  principal: { subject: 'alice', roles: ['agent-operator'] },
  task: { goal: 'Read ticket T100', data: { ticket: 'T100' } },
  bodyHash: 'b',
  state: 'SUCCEEDED',
  terminal: 'SUCCEEDED',
  reason: 'finish.done',
  seq: 6,
  step: 1,
  planVersion: 1,
  createdAt: START,
  openedAt: START + 10,
  endedAt: START + 9_000,
};

export const attempt = (changes: Partial<AttemptRow> = {}): AttemptRow => ({
  ref,
  step: 1,
  attempt: 1,
  state: 'STORED',
  context: HASH,
  candidate: HASH,
  outcome: { kind: 'candidateStored' },
  usage: {
    inputTokens: 2_000,
    outputTokens: 30,
    cacheReadTokens: 400,
    cacheWriteTokens: 0,
    costMicros: 7_500,
    isEstimate: false,
  },
  openedAt: START + 100,
  endedAt: START + 500,
  ...changes,
});

export const operation = (changes: Partial<OperationRow> = {}): OperationRow => ({
  id: operationIdOf(ref.run, 1, 1),
  ref,
  step: 1,
  ordinal: 1,
  call: 'toolu_1',
  tool: 'reassign_ticket',
  effect: 'write',
  arguments: HASH,
  argumentHash: HASH,
  target: 'ticket:T100',
  planVersion: 1,
  state: 'SUCCEEDED',
  generation: 1,
  evidence: evidenceIdOf(1, 1),
  lookUps: 0,
  polls: 0,
  openGenerations: [],
  ...changes,
});

export const ENTRIES: readonly JournalEntry[] = [
  machineEntry(
    1,
    { from: 'READY', event: 'contextFrozen', to: 'MODEL_RUNNING', rule: 'context.frozen', cause: { step: 1 } },
    20,
  ),
  machineEntry(
    2,
    {
      from: 'MODEL_RUNNING',
      event: 'candidateStored',
      to: 'VALIDATING',
      rule: 'candidate.stored',
      cause: { step: 1, attempt: 1 },
    },
    520,
  ),
  machineEntry(
    3,
    { from: 'VALIDATING', event: 'callsJudged', to: 'WAITING_USER', rule: 'calls.judged', cause: { step: 1 } },
    600,
  ),
  machineEntry(
    4,
    { from: 'WAITING_USER', event: 'approvalGiven', to: 'TOOL_RUNNING', rule: 'wait.approved', cause: { wait: WAIT } },
    8_600,
  ),
  machineEntry(
    5,
    {
      from: 'TOOL_RUNNING',
      event: 'dispatchEnded',
      to: 'FINALIZING',
      rule: 'call.dispatch.ended',
      cause: { step: 1, ordinal: 1, outcome: 'SUCCEEDED' },
    },
    8_800,
  ),
  machineEntry(
    6,
    {
      from: 'FINALIZING',
      event: 'committed',
      to: 'SUCCEEDED',
      rule: 'end.committed',
      cause: { terminal: 'SUCCEEDED', reason: 'finish.done' },
    },
    9_000,
  ),
];

const totals = {
  steps: 1,
  attempts: 1,
  inputTokens: 2_000,
  outputTokens: 30,
  cacheReadTokens: 400,
  cacheWriteTokens: 0,
  costMicros: 7_500,
  toolCalls: 1,
  estimatedTokens: 0,
};

export const RECORD: RunRecord = {
  details: {
    row,
    totals,
    attempts: [attempt()],
    decisions: [
      {
        step: 1,
        attempt: 1,
        ordinal: 1,
        validator: 'policy',
        validatorVersion: '1',
        phase: 'proposal',
        try: 1,
        inputHash: HASH,
        verdict: 'ask',
        evidence: {},
      },
      {
        step: 1,
        attempt: 1,
        ordinal: 0,
        validator: 'structure',
        validatorVersion: '1',
        phase: 'proposal',
        try: 1,
        inputHash: HASH,
        verdict: 'pass',
        evidence: {},
      },
    ],
    operations: [operation()],
    waits: [
      {
        id: WAIT,
        ref,
        kind: 'approval',
        seq: 3,
        planVersion: 1,
        operation: operationIdOf(ref.run, 1, 1),
        plan: HASH,
        responseSchema: {},
        expiresInMs: 60_000,
        state: 'CONSUMED',
        openedAt: START + 600,
        expiresAt: START + 60_600,
      },
    ],
    ledger: [],
  },
  entries: ENTRIES,
  lines: ENTRIES.flatMap((entry) => parseMachineLine(entry) ?? []),
  result: {
    schemaVersion: 1,
    version: 1,
    run: ref.run,
    terminal: 'SUCCEEDED',
    reason: 'finish.done',
    answer: 'Ticket T100 is with payments-oncall.',
    claims: [{ text: 'It is with payments-oncall.', evidence: [evidenceIdOf(1, 1)], asserts: [] }],
    operations: [],
    ledger: totals,
    warnings: ['the desk was slow'],
  },
  model: { model: 'claude-sonnet-5-5', isScripted: true },
  budgets: { maxSteps: 20, maxTokens: 400_000, maxCostMicros: 2_000_000, maxToolCalls: 40, deadlineMs: 86_400_000 },
};
