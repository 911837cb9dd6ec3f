import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkAgents, checkBundle } from '../../../../cli/doctor/check-agents';
import { makeTempDir, removeDir } from '../../../support/temp-dir';

let dir: string;
beforeEach(() => {
  dir = makeTempDir('doctor');
});
afterEach(() => {
  removeDir(dir);
});

test('a module that does not load is wrong, and so is one without agents', async () => {
  const path = join(dir, 'agents.js');
  writeFileSync(path, 'throw new Error("no such desk");');
  expect(await checkAgents(path, {})).toMatchObject({
    status: 'wrong',
    found: expect.stringMatching(/expected a module that loads[^]*no such desk/),
  });

  const empty = join(dir, 'empty.js');
  writeFileSync(empty, 'exports.agents = [];');
  expect(await checkAgents(empty, {})).toMatchObject({
    status: 'wrong',
    found: expect.stringContaining("exports 'agents'"),
  });
});

test('an agent that a worker would refuse is wrong, and all its faults are named', async () => {
  const path = join(dir, 'agent.js');
  const definition = {
    name: 'Not A Name',
    version: '1',
    instructions: 'Do it.',
    tools: [],
    policy: 'permit (principal, action, resource);',
    model: {
      provider: 'anthropic',
      model: 'some-model',
      maxOutputTokens: 100,
      maxContextBytes: 1_000,
      idleTimeoutMs: 1_000,
      prices: {
        version: '1',
        inputPerMillion: 1,
        outputPerMillion: 1,
        cacheReadPerMillion: 1,
        cacheWritePerMillion: 1,
      },
    },
    conditions: [],
  };
  writeFileSync(path, `exports.agent = ${JSON.stringify(definition)};`);

  expect(await checkAgents(path, {})).toMatchObject({
    status: 'wrong',
    found: expect.stringMatching(/Not A Name: name: got[^]*Not A Name: conditions/),
  });
});

test('none named is wrong', async () => {
  expect(await checkAgents(undefined, {})).toMatchObject({
    status: 'wrong',
    mend: expect.stringContaining('HOLDFAST_AGENTS'),
  });
});

test('a bundle that is not there names the command that makes it', () => {
  expect(checkBundle(join(dir, 'none.js'))).toMatchObject({
    status: 'wrong',
    mend: expect.stringContaining('npm run bundle'),
  });
});
