import { expect, test } from '@jest/globals';
import { CommandFailure, describeError, UsageError } from '../../../cli/errors';
import { StackError } from '../../../cli/stack/errors';
import { HoldfastError } from '../../../client/errors';
import { InvalidSettings } from '../../../config/settings';
import { parseRunId } from '../../../workflows/contract/ids';

const thrownBy = (act: () => unknown): unknown => {
  try {
    act();
  } catch (error) {
    return error;
  }
  return undefined;
};

test.each([
  [new UsageError('wrong'), 'usage.invalid', 2],
  [new InvalidSettings(['X']), 'settings.invalid', 2],
  [new HoldfastError('input.invalid', 'goal: got nothing'), 'input.invalid', 2],
  [thrownBy(() => parseRunId('x')), 'id.invalid', 2],
  [new HoldfastError('run.not_found', 'run'), 'run.not_found', 1],
  [new CommandFailure('engine.unavailable', 'away'), 'engine.unavailable', 1],
  [new StackError('stack.data_dir_locked', 'in use'), 'stack.data_dir_locked', 1],
])('%s', (error, code, exitCode) => {
  expect(describeError(error)).toMatchObject({ code, exitCode });
});

test('an error that nobody foresaw keeps its place', () => {
  const described = describeError(new TypeError('x is undefined'));

  expect(described).toMatchObject({ code: 'internal', exitCode: 1 });
  expect(described.message).toMatch(/TypeError: x is undefined\n +at /);
});

test('the cause is told, once', () => {
  const cause = new Error('connection refused');

  expect(describeError(new CommandFailure('engine.unavailable', 'away', { cause })).message).toBe(
    'away\n  because: connection refused',
  );
  expect(describeError(new UsageError('connection refused', { cause })).message).toBe('connection refused');
});
