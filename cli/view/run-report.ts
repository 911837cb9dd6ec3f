/** The JSON document of a run: its shape is promised, so it is written down here and checked by tests. */
import { z } from 'zod';
import { OPERATION_STATES } from '../../workflows/machine/operation-transitions';
import { TERMINALS } from '../../workflows/machine/states';
import { statesOf, timesOf } from '../../client/views/durations';
import { describeModel } from './model-line';
import type { RunRecord } from './run-record';

const count = z.int().nonnegative();

export const RUN_REPORT = z.strictObject({
  run: z.string(),
  agent: z.string(),
  goal: z.string(),
  state: z.string(),
  /** Null while the run goes on. */
  terminal: z.enum(TERMINALS).nullable(),
  reason: z.string().nullable(),
  /** Who answered for the model: `scripted, offline`, or the model's name. Null before the first answer. */
  model: z.string().nullable(),
  result: z
    .strictObject({
      version: count,
      answer: z.string(),
      claims: z.array(z.strictObject({ text: z.string(), evidence: z.array(z.string()) })),
      warnings: z.array(z.string()),
    })
    .nullable(),
  /** In the order of entering them. */
  states: z.array(z.strictObject({ state: z.string(), at: z.iso.datetime() })),
  steps: count,
  attempts: count,
  operations: z.array(
    z.strictObject({
      id: z.string(),
      tool: z.string(),
      effect: z.enum(['read', 'write']),
      state: z.enum(OPERATION_STATES),
      /** How often it was sent. */
      generation: count,
      step: count,
      target: z.string().nullable(),
      code: z.string().nullable(),
      evidence: z.string().nullable(),
    }),
  ),
  ledger: z.strictObject({
    steps: count,
    attempts: count,
    inputTokens: count,
    outputTokens: count,
    cacheReadTokens: count,
    cacheWriteTokens: count,
    costMicros: count,
    toolCalls: count,
    estimatedTokens: count,
  }),
  /** `userMs`: in WAITING_USER; `systemMs`: the rest between the first event and the last. */
  times: z.strictObject({ systemMs: count, userMs: count }),
});
export type RunReport = z.output<typeof RUN_REPORT>;

export const buildReport = ({ details, lines, result, model }: RunRecord): RunReport => {
  const { row, totals, attempts, operations } = details;
  return {
    run: row.ref.run,
    agent: row.agent,
    goal: row.task.goal,
    state: row.state,
    terminal: row.terminal ?? null,
    reason: row.reason ?? null,
    model: model === undefined ? null : describeModel(model),
    result: result === undefined ? null : reportResult(result),
    states: statesOf(lines, row.openedAt ?? row.createdAt).map(({ state, atMs }) => ({
      state,
      at: new Date(atMs).toISOString(),
    })),
    steps: totals.steps,
    attempts: attempts.length,
    operations: operations.map(reportOperation),
    ledger: { ...totals },
    times: timesOf(lines),
  };
};

const reportResult = ({
  version,
  answer,
  claims,
  warnings,
}: NonNullable<RunRecord['result']>): RunReport['result'] => ({
  version,
  answer,
  claims: claims.map(({ text, evidence }) => ({ text, evidence: [...evidence] })),
  warnings: [...warnings],
});

const reportOperation = (operation: RunRecord['details']['operations'][number]): RunReport['operations'][number] => {
  const { id, tool, effect, state, generation, step, target, code, evidence } = operation;
  return {
    id,
    tool,
    effect,
    state,
    generation,
    step,
    target: target ?? null,
    code: code ?? null,
    evidence: evidence ?? null,
  };
};
