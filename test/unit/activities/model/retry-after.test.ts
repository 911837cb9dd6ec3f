import { describe, expect, test } from '@jest/globals';
import { readRetryAfterMs } from '../../../../activities/model/retry-after';

const NOW = Date.parse('Wed, 21 Oct 2026 07:28:00 GMT');

const read = (headers: Record<string, string>): number | undefined => readRetryAfterMs(new Headers(headers), NOW);

describe('when the provider wants to be asked again', () => {
  test.each<[Record<string, string>, number | undefined]>([
    [{}, undefined],
    [{ 'retry-after': '30' }, 30_000],
    [{ 'retry-after': '0' }, 0],
    [{ 'retry-after': '1.5' }, 1_500],
    [{ 'retry-after': '0.0001' }, 1],
    [{ 'retry-after': ' 7 ' }, 7_000],
    [{ 'retry-after': '-5' }, 0],
    [{ 'retry-after': '777600' }, 777_600_000],
    [{ 'retry-after': '9'.repeat(400) }, Number.MAX_SAFE_INTEGER],
    [{ 'retry-after': 'Wed, 21 Oct 2026 07:28:30 GMT' }, 30_000],
    [{ 'retry-after': 'Wed, 21 Oct 2026 07:27:00 GMT' }, 0],
    [{ 'retry-after': 'soon 5' }, undefined],
    [{ 'retry-after': 'soon GMT' }, undefined],
    [{ 'retry-after': '' }, undefined],
    [{ 'retry-after': '0x10' }, undefined],
    [{ 'retry-after': '1e3' }, undefined],
    [{ 'retry-after': 'Infinity' }, undefined],
    [{ 'retry-after-ms': '250' }, 250],
    [{ 'retry-after-ms': '250.4' }, 251],
    [{ 'retry-after-ms': '-1' }, 0],
    [{ 'retry-after-ms': '250', 'retry-after': '30' }, 250],
    [{ 'retry-after-ms': 'soon', 'retry-after': '30' }, 30_000],
  ])('%j is %s ms', (headers, ms) => {
    expect(read(headers)).toBe(ms);
  });

  test('an answer without headers says nothing', () => {
    expect(readRetryAfterMs(undefined, NOW)).toBeUndefined();
  });
});
