import { describe, expect, test } from '@jest/globals';
import { RESPONSE_SCHEMAS } from '../../../../activities/waits/response-shapes';
import { findResponseFault, responseSchemaSchema } from '../../../../definition/response-schema';
import type { Json } from '../../../../workflows/contract/json';

const schemaOf = (kind: keyof typeof RESPONSE_SCHEMAS) => responseSchemaSchema.parse(RESPONSE_SCHEMAS[kind]);

describe('what a person may answer', () => {
  test.each(['approval', 'acceptance', 'reconciliation', 'handoff'] as const)(
    '%s is asked within what a page can show',
    (kind) => {
      expect(responseSchemaSchema.safeParse(RESPONSE_SCHEMAS[kind]).success).toBe(true);
    },
  );

  // prettier-ignore
  test.each<[keyof typeof RESPONSE_SCHEMAS, Json, string | undefined]>([
    ['approval',       { decision: 'approve' },                          undefined],
    ['approval',       { decision: 'deny', reason: '' },                 undefined],
    ['approval',       { decision: 'yes' },                              'decision'],
    ['approval',       {},                                               'decision'],
    ['acceptance',     { accept: false },                                undefined],
    ['acceptance',     { accept: 'no' },                                 'accept'],
    ['reconciliation', { state: 'NOT_EXECUTED', why: 'not in the log' }, undefined],
    ['reconciliation', { state: 'NOT_EXECUTED' },                        'why'],
    ['reconciliation', { state: 'NOT_EXECUTED', why: '' },               'why'],
    ['reconciliation', { state: 'UNKNOWN', why: 'x' },                   'state'],
    ['handoff',        { take: false, guidance: 'ask payments' },        undefined],
    ['handoff',        { guidance: 'ask payments' },                     'take'],
  ])('%s: %j', (kind, response, field) => {
    expect(findResponseFault(schemaOf(kind), response)?.field).toBe(field);
  });
});
