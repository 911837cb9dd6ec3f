import { expect, test } from '@jest/globals';
import { createPatience } from '../../../../cli/view/patience';
import { StoreUnavailable } from '../../../../store/errors';

const AWAY = new StoreUnavailable(new Error('Query read timeout'));

const patienceWith = (signal: AbortSignal = new AbortController().signal) => {
  const told: string[] = [];
  const patiently = createPatience({
    everyMs: 1,
    signal,
    onAway: () => told.push('away'),
    onBack: () => told.push('back'),
  });
  return { told, patiently };
};

const failing = (times: number, error: Error) => {
  let left = times;
  return (): Promise<string> => {
    left -= 1;
    return left >= 0 ? Promise.reject(error) : Promise.resolve('read');
  };
};

test('a read waits for a database that is away, which is told once for each absence', async () => {
  const { told, patiently } = patienceWith();

  expect(await Promise.all([patiently(failing(3, AWAY)), patiently(failing(3, AWAY))])).toEqual(['read', 'read']);
  expect(told).toEqual(['away', 'back']);
  expect(await patiently(failing(1, AWAY))).toBe('read');
  expect(told).toEqual(['away', 'back', 'away', 'back']);
});

test('another failure is thrown at once', async () => {
  const { told, patiently } = patienceWith();

  await expect(patiently(failing(1, new Error('no such run')))).rejects.toThrow('no such run');
  expect(told).toEqual([]);
});

test('a limit of time counts while the database is away', async () => {
  const { told, patiently } = patienceWith(AbortSignal.timeout(20));

  await expect(patiently(failing(Infinity, AWAY))).rejects.toBe(AWAY);
  expect(told).toEqual(['away']);
});
