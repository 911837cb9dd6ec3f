import { describe, expect, test } from '@jest/globals';
import { loadSettings } from '../../../config/settings';

const NAME = 'HOLDFAST_WORKER_METRICS_ADDRESS';

describe('where a worker serves its figures', () => {
  test.each(['127.0.0.1:9464', '0.0.0.0:1', '[::1]:65535', '[::]:9464'])('may be %s', (address) => {
    expect(loadSettings({ [NAME]: address }).workerMetricsAddress).toBe(address);
  });

  test('is nowhere unless it is said', () => {
    expect(loadSettings({})).not.toHaveProperty('workerMetricsAddress');
  });

  test.each(['9464', ':9464', 'localhost:9464', '127.0.0.1', '127.0.0.1:0', '127.0.0.1:65536', '::1:9464', '[::1]'])(
    'is not %s',
    (address) => {
      expect(() => loadSettings({ [NAME]: address })).toThrow(`${NAME}: got "${address}", expected an IP address`);
    },
  );
});
