import { expect, test } from '@jest/globals';
import { buildDevReport, DEV_REPORT } from '../../../../cli/dev/judge-run';
import type { DevScenario } from '../../../../cli/dev/dev-example';
import { buildReport, RUN_REPORT } from '../../../../cli/view/run-report';
import type { RunRecord } from '../../../../cli/view/run-record';
import { RECORD } from './record-fixture';

test('the document has the promised shape and says what happened', () => {
  const report = RUN_REPORT.parse(JSON.parse(JSON.stringify(buildReport(RECORD))));

  expect(report).toMatchObject({
    run: 'run_4f3c2a',
    terminal: 'SUCCEEDED',
    reason: 'finish.done',
    model: 'scripted, offline',
    result: {
      answer: 'Ticket T100 is with payments-oncall.',
      claims: [{ text: 'It is with payments-oncall.', evidence: ['E1.1'] }],
    },
    steps: 1,
    attempts: 1,
    operations: [{ id: 'op_4f3c2a_1_1', tool: 'reassign_ticket', state: 'SUCCEEDED', generation: 1 }],
    times: { userMs: 8_000, systemMs: 980 },
  });
  expect(report.states.map(({ state }) => state)).toEqual([
    'READY',
    'MODEL_RUNNING',
    'VALIDATING',
    'WAITING_USER',
    'TOOL_RUNNING',
    'FINALIZING',
    'SUCCEEDED',
  ]);
  expect(report.states.at(-1)?.at).toBe('2026-05-04T10:00:09.000Z');
});

test('a run that goes on has the same shape, with null for what is not there yet', () => {
  const { terminal: _terminal, reason: _reason, ...row } = RECORD.details.row;
  const record: RunRecord = {
    details: { ...RECORD.details, row: { ...row, state: 'READY' }, attempts: [], operations: [] },
    entries: [],
    lines: [],
  };

  const report = RUN_REPORT.parse(JSON.parse(JSON.stringify(buildReport(record))));

  expect(report).toMatchObject({ terminal: null, reason: null, result: null, model: null, state: 'READY' });
  expect(report.states).toHaveLength(1);
});

const scenario: DevScenario = {
  name: 'normal',
  id: 'A1',
  title: 'as it should be',
  agent: 'tickets',
  goal: 'Read ticket T100',
  data: {},
  prepare: [],
  modelFaults: [],
  answers: [],
  expected: {
    terminal: 'SUCCEEDED',
    reason: 'finish.done',
    effects: [{ kind: 'reassign', args: { team: 'payments' } }],
  },
};
const EFFECT = { id: 'F1', kind: 'reassign', args: { team: 'payments', reason: 'R-7' } };
const judge = (record: RunRecord, effects: readonly (typeof EFFECT)[], unasked: readonly string[] = []) =>
  DEV_REPORT.parse(buildDevReport({ scenario, record, effects, waits: [], unasked })).expected;

test('a scenario is met by its terminal, its reason and exactly its effects', () => {
  expect(judge(RECORD, [EFFECT])).toMatchObject({ isMet: true, differences: [] });
});

test('a double action is not what the scenario says', () => {
  expect(judge(RECORD, [EFFECT, EFFECT])).toMatchObject({ isMet: false, differences: ['2 effects, expected 1'] });
});

test('an answer that nobody asked for is not what the scenario says', () => {
  expect(judge(RECORD, [EFFECT], ['approval'])).toMatchObject({
    isMet: false,
    differences: ['nobody asked for approval'],
  });
});

test('what nobody counts, or the scenario leaves open, is not compared', () => {
  const open = { ...scenario, expected: { terminal: 'SUCCEEDED' } } as const;
  const given = { record: RECORD, waits: [], unasked: [] };

  const uncounted = DEV_REPORT.parse(buildDevReport({ ...given, scenario, effects: undefined }));
  const left = DEV_REPORT.parse(buildDevReport({ ...given, scenario: open, effects: [EFFECT] }));

  expect(uncounted).toMatchObject({ expected: { isMet: true }, desk: { effects: null } });
  expect(left).toMatchObject({ expected: { isMet: true, reason: null, effects: null }, desk: { effects: [EFFECT] } });
});

test('another effect is named', () => {
  const other = { ...EFFECT, args: { team: 'legal', reason: 'R-7' } };

  expect(judge(RECORD, [other]).differences).toEqual([
    expect.stringMatching(/^effect 1 is .*legal.*, expected .*payments/),
  ]);
});

test('another end is named', () => {
  const row = { ...RECORD.details.row, terminal: 'FAILED', reason: 'model.refused' } as const;

  expect(judge({ ...RECORD, details: { ...RECORD.details, row } }, []).differences).toEqual([
    'FAILED, expected SUCCEEDED',
    'reason model.refused, expected finish.done',
    '0 effects, expected 1',
  ]);
});

test('a real model is held to the end and the effects, not to the words of the reason', () => {
  const record: RunRecord = {
    ...RECORD,
    details: { ...RECORD.details, row: { ...RECORD.details.row, reason: 'finish.other' } },
    model: { model: 'claude-sonnet-5-5', isScripted: false },
  };

  expect(judge(record, [EFFECT])).toMatchObject({ isMet: true });
});
