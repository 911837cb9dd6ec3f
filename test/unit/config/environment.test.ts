import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { environmentOfDevWorker, environmentOfOthers } from '../../../config/environment';

const before = { ...process.env };
beforeEach(() => {
  Object.assign(process.env, {
    ANTHROPIC_API_KEY: 'secret',
    DATABASE_URL: 'postgres://somewhere',
    TEMPORAL_ADDRESS: 'elsewhere:7233',
    TEMPORAL_TLS: 'true',
    HARMLESS: 'yes',
  });
});
afterEach(() => {
  for (const name of Object.keys(process.env)) Reflect.deleteProperty(process.env, name);
  Object.assign(process.env, before);
});

const given = (environment: NodeJS.ProcessEnv): Record<string, string | undefined> =>
  JSON.parse(JSON.stringify(environment)) as Record<string, string>;

test('a program that is none of ours gets no secret', () => {
  const environment = given(environmentOfOthers());

  expect(environment).toMatchObject({ HARMLESS: 'yes' });
  expect(Object.keys(environment).filter((name) => /ANTHROPIC|DATABASE|TEMPORAL/.test(name))).toEqual([]);
});

test('a worker of the development stack speaks to the stack’s Temporal, whatever the user’s shell says', () => {
  const environment = given(
    environmentOfDevWorker({ TEMPORAL_CONFIG_FILE: '/stack.toml', TEMPORAL_ADDRESS: '127.0.0.1:1' }),
  );

  expect(environment).toMatchObject({ TEMPORAL_ADDRESS: '127.0.0.1:1', ANTHROPIC_API_KEY: 'secret' });
  expect(environment).not.toHaveProperty('TEMPORAL_TLS');
});
