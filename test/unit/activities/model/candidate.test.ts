import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parseArtifact } from '../../../../activities/context/read-artifact';
import { buildCandidate } from '../../../../activities/model/build-candidate';
import { CANDIDATE } from '../../../../activities/model/candidate';
import { parseArtifactHash, parseRunId, parseTenantId } from '../../../../workflows/contract/ids';
import { messageDelta, receive, start, STOP, textEvents, toolUseEvents } from './fixtures';

const HASH = 'a'.repeat(64);
const USAGE = {
  inputTokens: 10,
  outputTokens: 5,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  costMicros: 105,
  isEstimate: false,
};

const built = buildCandidate(
  {
    ref: { tenant: parseTenantId('acme'), run: parseRunId('run_4f3c2a') },
    events: [],
    step: 3,
    attempt: 2,
    context: parseArtifactHash(HASH),
    truncations: 0,
    mode: 'ask',
  },
  {
    message: receive(
      start(),
      ...textEvents(0, 'Reading.'),
      ...toolUseEvents(1, 'toolu_1', '{"id":"T100"}'),
      ...toolUseEvents(2, 'toolu_2', '{"id":'),
      ...toolUseEvents(3, 'toolu_3', '{"n":9007199254740993}'),
      messageDelta('tool_use'),
      STOP,
    ),
    requestId: 'req_1',
  },
  { isComplete: true, usage: USAGE, model: 'asked-for' },
);

describe('the stored candidate', () => {
  test('is read back as it was built', () => {
    const stored: unknown = JSON.parse(JSON.stringify(built));

    expect(parseArtifact(CANDIDATE, HASH, stored)).toEqual(built);
  });

  test('version 1 is still read as it was first written', () => {
    const path = join(__dirname, '../../../fixtures/records/candidate-v1.json');
    const stored: unknown = JSON.parse(readFileSync(path, 'utf8'));

    expect(parseArtifact(CANDIDATE, HASH, stored)).toEqual(built);
  });

  test('a version that is not known is refused by name', () => {
    expect(() => parseArtifact(CANDIDATE, HASH, { ...built, schemaVersion: 2 })).toThrow(
      expect.objectContaining({ code: 'artifact.version_unknown' }),
    );
  });

  test.each([
    ['run', 'ticket_1'],
    ['context', 'abc'],
    ['calls', [{ ordinal: 1, id: 'toolu_1', name: 'read_ticket' }]],
    ['blocks', [{ text: 'no type' }]],
  ])('a %s of another shape is refused', (field, value) => {
    expect(() => parseArtifact(CANDIDATE, HASH, { ...built, [field]: value })).toThrow();
  });
});
