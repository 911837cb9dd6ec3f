/** What a person is shown: complete or marked as cut, and nothing in it that cannot be seen. */
import { expect, test } from '@jest/globals';
import { showPlan } from '../../../client/shown-plan';
import { parseOperationId } from '../../../workflows/contract/ids';
import type { Plan } from '../../../workflows/contract/records';

const plan = (changes: Partial<Plan['operations'][number]> = {}, why = 'policy'): Plan => ({
  schemaVersion: 1,
  kind: 'approval',
  why,
  operations: [
    { id: parseOperationId('op_abcdef_1_1'), tool: 'pay', arguments: { amount: 10 }, risk: 'high', ...changes },
  ],
  isComplete: true,
});

test('a plan is shown whole', () => {
  expect(
    showPlan(plan({ target: 'invoice:7', expectedVersion: '3', repeats: parseOperationId('op_abcdef_0_1') })),
  ).toEqual({
    kind: 'plan',
    why: 'policy',
    operations: [
      {
        operation: 'op_abcdef_1_1',
        tool: 'pay',
        risk: 'high',
        target: 'invoice:7',
        expectedVersion: '3',
        repeats: 'op_abcdef_0_1',
        arguments: { amount: 10 },
        argumentsJson: '{"amount":10}',
        bytes: 13,
        isComplete: true,
      },
    ],
    isComplete: true,
  });
});

test('what would mislead the eye is made visible everywhere, and the exact text is beside it', () => {
  const shown = showPlan(plan({ arguments: { to: 'a\u202eb' }, target: 'x:\u200b' }, 'why\u2066'));

  expect(shown).toMatchObject({
    why: 'why<U+2066>',
    operations: [{ target: 'x:<U+200B>', arguments: { to: 'a<U+202E>b' }, argumentsJson: '{"to":"a\\u202eb"}' }],
    isComplete: true,
  });
});

test('arguments that are too large are cut, and both the operation and the plan say so', () => {
  const shown = showPlan(plan({ arguments: { text: 'x'.repeat(300_000) } }));

  expect(shown.isComplete).toBe(false);
  expect(shown).toMatchObject({ operations: [{ arguments: null, bytes: 300_011, isComplete: false }] });
  expect(JSON.stringify(shown).length).toBeLessThan(30_000);
  expect(JSON.stringify(shown)).toMatch(/cut: 300011 characters, the first 20000 are shown/);
});

test('so is a reason that is too long, and a plan that says itself that it is not complete', () => {
  expect(showPlan(plan({}, 'y'.repeat(200_000))).isComplete).toBe(false);
  expect(showPlan({ ...plan(), isComplete: false }).isComplete).toBe(false);
});
