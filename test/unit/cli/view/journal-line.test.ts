import { expect, test } from '@jest/globals';
import pc from 'picocolors';
import { renderEntry } from '../../../../cli/view/journal-line';
import { attempt, ENTRIES, machineEntry, operation, RECORD, START, WAIT } from './record-fixture';

const context = { startedAt: START, details: RECORD.details, colors: pc.createColors(false) };
const render = (...args: Parameters<typeof machineEntry>): string => renderEntry(machineEntry(...args), context);

test('each transition is one line: time since the start, from, to, rule, and what it was about', () => {
  expect(ENTRIES.map((entry) => renderEntry(entry, context))).toEqual([
    '    0.02 s READY         → MODEL_RUNNING    context.frozen         step 1',
    '    0.52 s MODEL_RUNNING → VALIDATING       candidate.stored       step 1  attempt 1  2,400 in, 30 out  $0.0075, $0.0075 so far',
    '    0.60 s VALIDATING    → WAITING_USER     calls.judged           step 1  reassign_ticket',
    `    8.60 s WAITING_USER  → TOOL_RUNNING     wait.approved          approval ${WAIT}`,
    '    8.80 s TOOL_RUNNING  → FINALIZING       call.dispatch.ended    step 1  call 1 reassign_ticket SUCCEEDED E1.1',
    '    9.00 s FINALIZING    → SUCCEEDED        end.committed          SUCCEEDED: finish.done',
  ]);
});

test('an event that leaves the state as it is shows no arrow', () => {
  const line = render(1, { from: 'FINALIZING', event: 'endChecked', to: 'FINALIZING', rule: 'end.commit' });

  expect(line).toMatch(/FINALIZING {4}· +end\.commit$/);
});

test('an operation is shown as the event found it, whatever became of it since', () => {
  const cause = { step: 1, ordinal: 1, outcome: 'UNKNOWN' };

  const line = render(1, { from: 'TOOL_RUNNING', event: 'dispatchEnded', to: 'WAITING_TOOL', rule: 'r', cause });

  expect(line).toContain('call 1 reassign_ticket UNKNOWN');
  expect(line).not.toMatch(/SUCCEEDED|E1\.1/);
});

test('a read that failed shows its code', () => {
  const cause = { step: 1, ordinal: 1, code: 'NOT_FOUND' };

  const line = render(1, { from: 'TOOL_RUNNING', event: 'readEnded', to: 'READY', rule: 'r', cause });

  expect(line).toContain('call 1 reassign_ticket  NOT_FOUND');
});

test('the cost so far is that of all attempts up to this one, later ones left out', () => {
  const attempts = [attempt(), attempt({ attempt: 2 }), attempt({ step: 2 })];
  const cause = { step: 1, attempt: 2 };
  const body = { from: 'MODEL_RUNNING', event: 'candidateStored', to: 'VALIDATING', rule: 'r', cause };

  const line = renderEntry(machineEntry(1, body), { ...context, details: { ...RECORD.details, attempts } });

  expect(line).toContain('$0.0075, $0.0150 so far');
});

test('usage that the provider never told is marked', () => {
  const attempts = [attempt({ state: 'LOST', usage: { ...attempt().usage, isEstimate: true } })];
  const cause = { step: 1, attempt: 1 };
  const body = { from: 'MODEL_RUNNING', event: 'attemptLost', to: 'MODEL_RUNNING', rule: 'r', cause };

  const line = renderEntry(machineEntry(1, body), { ...context, details: { ...RECORD.details, attempts } });

  expect(line).toContain('(estimated)');
});

test('an outside event is one, and its text cannot reach the terminal as a control sequence', () => {
  const entry = {
    position: 7,
    kind: 'outside',
    eventId: 'evt\u001b[2J',
    body: { kind: 'callback\u202e' },
    recordedAt: START + 1_000,
  } as const;

  const line = renderEntry(entry, context);

  expect(line).toBe('    1.00 s outside       ← callback\\u{202e} evt\\u{1b}[2J');
});

test('a call whose operation is not there is named by its number', () => {
  const cause = { step: 9, ordinal: 2 };

  const line = render(1, { from: 'TOOL_RUNNING', event: 'readEnded', to: 'READY', rule: 'r', cause });

  expect(line).toMatch(/step 9 {2}call 2$/);
  expect(operation().step).toBe(1);
});
