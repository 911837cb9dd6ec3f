/** Whether a run came out as its scenario says, and the JSON document that tells it. */
import { z } from 'zod';
import type { RunRecord } from '../view/run-record';
import { buildReport, RUN_REPORT } from '../view/run-report';
import type { DevScenario } from './dev-example';
import { differenceOf, type ExampleEffect } from './example-control';

const effect = z.record(z.string(), z.json());

export const DEV_REPORT = RUN_REPORT.extend({
  scenario: z.strictObject({ name: z.string(), id: z.string(), title: z.string() }),
  expected: z.strictObject({
    terminal: z.string(),
    /** Null where the scenario leaves it open. */
    reason: z.string().nullable(),
    /** Null where the scenario leaves them open. */
    effects: z.array(effect).nullable(),
    isMet: z.boolean(),
    /** What differs, in words; empty where nothing does. */
    differences: z.array(z.string()),
  }),
  /** What was asked of people; `answeredBy` is null where nobody's answer was accepted. */
  waits: z.array(
    z.strictObject({ id: z.string(), kind: z.string(), state: z.string(), answeredBy: z.string().nullable() }),
  ),
  /** What the example's own system counted since the scenario began; null where it names no effectsPath. */
  desk: z.strictObject({ effects: z.array(effect).nullable() }),
});
export type DevReport = z.output<typeof DEV_REPORT>;

export interface DevOutcome {
  readonly scenario: DevScenario;
  readonly record: RunRecord;
  /** Undefined where nobody counts them: nothing is compared then. */
  readonly effects: readonly ExampleEffect[] | undefined;
  readonly waits: DevReport['waits'];
  /** Kinds of the scenario's answers that nobody asked for. */
  readonly unasked: readonly string[];
}

export const buildDevReport = (outcome: DevOutcome): DevReport => {
  const { scenario, record, effects, waits } = outcome;
  const { name, id, title, expected } = scenario;
  const differences = findDifferences(outcome);
  return {
    ...buildReport(record),
    scenario: { name, id, title },
    expected: {
      terminal: expected.terminal,
      reason: expected.reason ?? null,
      effects: expected.effects ?? null,
      isMet: differences.length === 0,
      differences: [...differences],
    },
    waits,
    desk: { effects: effects === undefined ? null : [...effects] },
  };
};

/** A real model may find other words for why it ended, so only a scripted one is held to the reason. */
const findDifferences = ({ scenario: { expected }, record, effects, unasked }: DevOutcome): readonly string[] => {
  const { row } = record.details;
  const isScripted = record.model?.isScripted ?? true;
  const difference =
    effects === undefined || expected.effects === undefined ? undefined : differenceOf(effects, expected.effects);
  return [
    ...(row.terminal === expected.terminal ? [] : [`${row.terminal ?? row.state}, expected ${expected.terminal}`]),
    ...(!isScripted || expected.reason === undefined || row.reason === expected.reason
      ? []
      : [`reason ${row.reason ?? 'none'}, expected ${expected.reason}`]),
    ...(difference === undefined ? [] : [difference]),
    ...(unasked.length === 0 ? [] : [`nobody asked for ${unasked.join(', ')}`]),
  ];
};
