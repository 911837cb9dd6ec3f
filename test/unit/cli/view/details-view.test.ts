import { expect, test } from '@jest/globals';
import pc from 'picocolors';
import { renderDetails } from '../../../../cli/view/details-view';
import { renderResult } from '../../../../cli/view/result-view';
import { RECORD, WAIT } from './record-fixture';

const colors = pc.createColors(false);

test('a run is shown from its steps down to its operations, with its account against its limits', () => {
  const text = renderDetails(RECORD, colors).join('\n');

  expect(text).toContain(
    'run_4f3c2a  agent tickets  for alice (agent-operator), tenant default  model: scripted, offline',
  );
  expect(text).toContain('Step 1  context aaaaaaaaaaaa');
  expect(text).toContain('attempt 1 STORED  candidateStored  2,400 in, 30 out  $0.0075');
  expect(text).toContain('2 decisions, 1 passed');
  expect(text).toContain('policy@1 at proposal: ask for call 1');
  expect(text).toContain('op_4f3c2a_1_1  reassign_ticket  ticket:T100  SUCCEEDED  [E1.1]');
  expect(text).toContain(`${WAIT}  approval about op_4f3c2a_1_1  CONSUMED`);
  expect(text).toContain('tokens      2,430 of 400,000');
  expect(text).toContain('8.98 s of 1 d 0 h: 0.98 s of systems, 8.00 s of people');
});

test('a result says whose model it was, and gives each claim its evidence', () => {
  const text = renderResult(RECORD, colors).join('\n');

  expect(text).toContain('SUCCEEDED (finish.done)  model: scripted, offline');
  expect(text).toContain('• It is with payments-oncall.  [E1.1]');
  expect(text).toContain('! the desk was slow');
});

test('a real model is named', () => {
  const record = { ...RECORD, model: { model: 'claude-sonnet-5-5', isScripted: false } };

  expect(renderResult(record, colors)[0]).toContain('model: claude-sonnet-5-5');
});
