import { describe, expect, test } from '@jest/globals';
import { buildResult, type ResultParts } from '../../../store/build-result';
import type { OperationRow } from '../../../store/rows';
import {
  evidenceIdOf,
  operationIdOf,
  parseArtifactHash,
  parseRunId,
  parseTenantId,
} from '../../../workflows/contract/ids';
import { NO_TOTALS } from '../../../workflows/machine/ledger';

const run = parseRunId('run_result1');

const operation = (ordinal: number, changes: Partial<OperationRow>): OperationRow => ({
  id: operationIdOf(run, 2, ordinal),
  ref: { tenant: parseTenantId('acme'), run },
  step: 2,
  ordinal,
  call: 'toolu_1',
  tool: 'pay',
  effect: 'write',
  arguments: parseArtifactHash('a'.repeat(64)),
  argumentHash: 'a'.repeat(64),
  target: `invoice:${String(ordinal)}`,
  planVersion: 1,
  state: 'SUCCEEDED',
  generation: 1,
  openGenerations: [],
  lookUps: 0,
  polls: 0,
  ...changes,
});

const build = (parts: Partial<ResultParts> = {}, terminal: Parameters<typeof buildResult>[1] = 'FAILED') =>
  buildResult({ run, ending: { reason: 'repairs.finish' }, operations: [], totals: NO_TOTALS, ...parts }, terminal);

describe('a result', () => {
  test('has the answer and its claims, where there is one', () => {
    const claims = [{ text: 'paid', evidence: [evidenceIdOf(2, 1)] }];
    const result = build({ answer: { schemaVersion: 1, outcome: 'done', answer: 'Paid.', claims } }, 'SUCCEEDED');
    expect(result).toMatchObject({ schemaVersion: 1, run, terminal: 'SUCCEEDED', answer: 'Paid.', claims });
  });

  test('without an answer reports from records: done, not proved, not done', () => {
    const { answer } = build({
      operations: [
        operation(1, {}),
        operation(2, { state: 'UNKNOWN' }),
        operation(3, { state: 'REFUSED', code: 'DENIED', generation: 0 }),
        operation(4, { state: 'NOT_EXECUTED', code: 'RATE_LIMITED' }),
        operation(5, { effect: 'read', tool: 'look', state: 'FAILED', code: 'NOT_FOUND' }),
        operation(6, { state: 'CREATED', generation: 0 }),
      ],
    });
    expect(answer.split('\n')).toEqual([
      'The run failed. Reason: repairs.finish.',
      'Done:',
      '- pay on invoice:1: SUCCEEDED [op_result1_2_1]',
      'Not proved, and still being found out:',
      '- pay on invoice:2: UNKNOWN [op_result1_2_2]',
      'Not done:',
      '- pay on invoice:3: REFUSED (DENIED) [op_result1_2_3]',
      '- pay on invoice:4: CANCELLED (RATE_LIMITED) [op_result1_2_4]',
    ]);
  });

  test('says that nothing was done, and why it stopped', () => {
    const diagnosis = { rule: 'repeatedCall' as const, steps: [2, 3, 4], what: 'get_ticket' };
    const result = build({ ending: { reason: 'loop.repeatedCall', diagnosis } });
    expect(result.answer).toContain('Nothing was changed in the outside world');
    expect(result.answer).toContain('repeatedCall): get_ticket, in steps 2, 3, 4');
    expect(result.diagnosis).toEqual(diagnosis);
  });

  test('lists what was tried, as it stands after the commit, and leaves out what never counted', () => {
    const result = build({ operations: [operation(1, { state: 'NOT_EXECUTED' }), operation(2, { state: 'CREATED' })] });
    expect(result.operations.map(({ id, state }) => [id, state])).toEqual([['op_result1_2_1', 'CANCELLED']]);
  });

  test('warns of estimates, of what is not proved, of what could not be read, and of second sends', () => {
    const { warnings } = build({
      totals: { ...NO_TOTALS, estimatedTokens: 12 },
      operations: [
        operation(1, { state: 'UNRESOLVED' }),
        operation(2, { code: 'TOOL_FAULT' }),
        operation(3, { generation: 2 }),
        operation(4, {}),
      ],
    });
    expect(warnings.map((warning) => warning.split(':')[0])).toEqual([
      'usage.estimated',
      'operation.unproved',
      'operation.unread',
      'operation.resent',
    ]);
  });
});
