/**
 * What has to hold after every scenario (the invariants that a test can see from outside). Counted at the desk and at the
 * model server, and compared with what Holdfast recorded.
 */
import { expect } from '@jest/globals';
import type { RunRow } from '../../../store/rows';
import { isTerminal } from '../../../workflows/machine/states';
import { largestPayloadOf, MAX_PAYLOAD_BYTES, readExecutions, replayAll } from './histories';
import type { Stage } from './stage';

export const checkInvariants = async (stage: Stage, ...runs: readonly RunRow[]): Promise<void> => {
  expect(stage.model.scriptFailures).toEqual([]);
  for (const run of runs) await checkRun(stage, run);
};

interface Played {
  readonly temporal: Stage['temporal'];
  readonly bundlePath: string;
}

/** At the end of a file, since a replay takes a worker of its own: every history replays, and holds references, no bodies. */
export const checkHistories = async ({ temporal, bundlePath }: Played, runs: readonly RunRow[]): Promise<void> => {
  const executions = (await Promise.all(runs.map(({ ref }) => readExecutions(temporal, ref.run)))).flat();
  for (const { workflowId, history } of executions) {
    const isSmall = largestPayloadOf(history) <= MAX_PAYLOAD_BYTES;
    expect({ workflowId, isSmall }).toEqual({ workflowId, isSmall: true });
  }
  await replayAll(bundlePath, executions);
};

const checkRun = async (stage: Stage, { ref }: RunRow): Promise<void> => {
  const details = await stage.runs.details(stage.tenant, ref.run);
  await checkEffects(stage, details.operations);
  await checkJournal(stage, details.row);
  const { reopens } = details.row;
  const carried = reopens === undefined ? undefined : await stage.runs.details(stage.tenant, reopens);
  checkLedger(details, carried?.totals.toolCalls ?? 0);
};

type Details = Awaited<ReturnType<Stage['runs']['details']>>;

/** 1: per operation 0 or 1 effects; 1 means SUCCEEDED, UNKNOWN or UNRESOLVED, never FAILED, CANCELLED or denied. */
const checkEffects = async (stage: Stage, operations: Details['operations']): Promise<void> => {
  const effects = await stage.desk.effects();
  for (const operation of operations) {
    const own = effects.filter(({ key }) => key === operation.id);
    expect({ operation: operation.id, effects: own.length }).toEqual({
      operation: operation.id,
      effects: own.length === 0 ? 0 : 1,
    });
    if (own.length === 1) {
      expect(['SUCCEEDED', 'UNKNOWN', 'UNRESOLVED', 'ACCEPTED', 'RUNNING', 'DISPATCHED']).toContain(operation.state);
    }
  }
};

/** 5 and 6: no gap, rising positions, a state rebuilt from the machine events that equals the row, one terminal. */
const checkJournal = async (stage: Stage, row: RunRow): Promise<void> => {
  const entries = await stage.runs.events(stage.tenant, row.ref.run, { after: 0, limit: 10_000 });
  expect(entries.map(({ position }) => position)).toEqual(entries.map((_entry, index) => index + 1));
  const machine = entries.filter(({ kind }) => kind === 'machine').map(({ body, seq }) => ({ ...body, seq }));
  expect(machine.map(({ seq }) => seq)).toEqual(machine.map((_event, index) => index + 1));
  // A run that cannot begin goes straight to its end.
  let state: unknown =
    machine.length > 0 && valueOf(machine[0] ?? {}, 'from') === 'FINALIZING' ? 'FINALIZING' : 'READY';
  for (const event of machine) {
    expect({ seq: event.seq, from: valueOf(event, 'from') }).toEqual({ seq: event.seq, from: state });
    state = valueOf(event, 'to');
  }
  if (row.terminal === undefined) return;
  expect(isTerminal(row.terminal)).toBe(true);
  expect(row.state).toBe(row.terminal);
};

/** 8: the totals are the sum of the entries, and no reservation is left open after the end. */
const checkLedger = ({ row, totals, ledger }: Details, carriedCalls: number): void => {
  const sum = (pick: (entry: Details['ledger'][number]) => number): number =>
    ledger.reduce((all, entry) => all + pick(entry), 0);
  expect({
    input: totals.inputTokens,
    output: totals.outputTokens,
    cost: totals.costMicros,
    toolCalls: totals.toolCalls,
  }).toEqual({
    input: sum(({ usage }) => usage.inputTokens),
    output: sum(({ usage }) => usage.outputTokens),
    cost: sum(({ usage }) => usage.costMicros),
    toolCalls: carriedCalls + ledger.filter(({ kind }) => kind === 'toolCall').length,
  });
  if (row.terminal !== undefined) expect(ledger.filter(({ isOpen }) => isOpen)).toEqual([]);
};

const valueOf = (event: object, key: string): unknown => Object.entries(event).find(([name]) => name === key)?.[1];
