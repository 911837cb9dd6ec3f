/** What is stored with evidence of a reopened run has to be read back by whoever goes on. */
import { describe, expect, test } from '@jest/globals';
import { ANSWER, PLAN } from '../../../../activities/context/artifact-shapes';

const answerCiting = (evidence: string) => ({
  schemaVersion: 1,
  outcome: 'done',
  answer: 'done',
  claims: [{ text: 'a person said so', evidence: [evidence] }],
});

describe('evidence in what is stored', () => {
  test.each(['E3.1', 'W17.0', 'W17.0@run_4f3c2a1b'])('%s is read back as it was written', (evidence) => {
    expect(ANSWER.schema.parse(answerCiting(evidence))).toEqual(answerCiting(evidence));
  });

  test.each(['', 'E3', 'X3.1', 'E3.1 ', 'W17.0@else', 'E3.1@run_'])('%j is none', (evidence) => {
    const issues = ANSWER.schema.safeParse(answerCiting(evidence)).error?.issues;

    expect(issues?.map(({ path }) => path.join('.'))).toEqual(['claims.0.evidence.0']);
  });
});

test('a plan with an id that is none is an issue of its shape, and nothing is thrown', () => {
  const operation = { id: 'op_x', tool: 'pay', arguments: {}, risk: 'low' };
  const plan = { schemaVersion: 1, kind: 'approval', why: 'policy', operations: [operation], isComplete: true };

  expect(PLAN.schema.safeParse(plan).error?.issues.map(({ path }) => path.join('.'))).toEqual(['operations.0.id']);
});
