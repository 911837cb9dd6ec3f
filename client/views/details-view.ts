/** What is recorded of a run, row by row. */
import type { AttemptRow, DecisionRow, OperationRow, Usage, WaitRow } from '../../store/rows';
import type { LedgerEntry } from '../../store/store';
import type { DetailsView } from '../schemas/details';
import { parseObject } from './run-view';
import { given, times, toIso } from './time';

type Of<Name extends 'attempts' | 'decisions' | 'operations' | 'waits' | 'ledger'> = DetailsView[Name][number];

export const toAttempt = (row: AttemptRow): Of<'attempts'> => ({
  step: row.step,
  attempt: row.attempt,
  state: row.state,
  context: row.context,
  usage: toUsage(row.usage),
  openedAt: toIso(row.openedAt),
  ...given({ candidate: row.candidate, outcome: row.outcome && parseObject(row.outcome) }),
  ...times({ endedAt: row.endedAt }),
});

const toUsage = ({
  inputTokens,
  outputTokens,
  cacheReadTokens,
  cacheWriteTokens,
  costMicros,
  isEstimate,
}: Usage): Usage => ({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, costMicros, isEstimate });

export const toDecision = (row: DecisionRow & { readonly id: string }): Of<'decisions'> => ({
  id: row.id,
  step: row.step,
  attempt: row.attempt,
  ordinal: row.ordinal,
  validator: row.validator,
  validatorVersion: row.validatorVersion,
  phase: row.phase,
  try: row.try,
  verdict: row.verdict,
  evidence: parseObject(row.evidence),
  ...given({ code: row.code }),
});

export const toOperation = (row: OperationRow): Of<'operations'> => ({
  id: row.id,
  step: row.step,
  ordinal: row.ordinal,
  call: row.call,
  tool: row.tool,
  effect: row.effect,
  state: row.state,
  generation: row.generation,
  arguments: row.arguments,
  argumentHash: row.argumentHash,
  planVersion: row.planVersion,
  lookUps: row.lookUps,
  polls: row.polls,
  ...given({
    target: row.target,
    expectedVersion: row.expectedVersion,
    equivalent: row.equivalent,
    job: row.job,
    code: row.code,
    raw: row.raw,
    output: row.output,
    failure: row.failure,
    evidence: row.evidence,
  }),
  ...times({
    firstDispatchedAt: row.firstDispatchedAt,
    dispatchedAt: row.dispatchedAt,
    notBeforeAt: row.notBeforeAt,
  }),
});

export const toWaitOfRun = (row: WaitRow): Of<'waits'> => ({
  wait: row.id,
  kind: row.kind,
  state: row.state,
  stateVersion: row.seq,
  planVersion: row.planVersion,
  planHash: row.plan,
  openedAt: toIso(row.openedAt),
  expiresAt: toIso(row.expiresAt),
  ...given({
    operation: row.operation,
    response: row.response && parseObject(row.response),
    responseId: row.responseId,
  }),
});

export const toLedgerEntry = ({ reference, kind, isOpen, usage }: LedgerEntry): Of<'ledger'> => ({
  reference,
  kind,
  isOpen,
  usage: toUsage(usage),
});
