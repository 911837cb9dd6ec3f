import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findDevScenario, loadDevExample } from '../../../../cli/dev/dev-example';
import { listScenarios } from '../../../../cli/dev/list-scenarios';
import { devExample } from '../../../../examples/tickets/dev-example';
import { SCENARIOS } from '../../../../examples/tickets/scenarios';
import { makeTempDir, removeDir } from '../../../support/temp-dir';
import { recordingOutput } from '../recording-output';

let dir: string;
beforeEach(() => {
  dir = makeTempDir('example');
});
afterEach(() => {
  removeDir(dir);
});

const write = (example: unknown): void => {
  writeFileSync(join(dir, 'dev-example.js'), `exports.devExample = ${JSON.stringify(example)};`);
};

test('the tickets example is one that the stack can run, with all its scenarios', async () => {
  write(devExample);

  const example = await loadDevExample(dir);

  expect(example.scenarios.map(({ name }) => name)).toEqual(SCENARIOS.map(({ name }) => name));
  expect(example.modulePathOf(example.script)).toBe(join(dir, 'model-script.js'));
  expect(findDevScenario(example, 'lost-receipt')).toMatchObject({
    prepare: [{ process: 'desk', path: '/_control/faults' }],
    expected: { terminal: 'SUCCEEDED', effects: [{ kind: 'reassign', ticket: 'T100' }] },
  });
});

test('an unknown scenario is refused with the names there are', async () => {
  write(devExample);

  const example = await loadDevExample(dir);

  expect(() => findDevScenario(example, 'nope')).toThrow(/--scenario: got 'nope', expected one of .*normal, accepted/);
});

test('scenarios are listed one line each, or as one document', async () => {
  write(devExample);
  const example = await loadDevExample(dir);
  const [text, json] = [recordingOutput(), recordingOutput()];

  expect([listScenarios(example, false, text), listScenarios(example, true, json)]).toEqual([0, 0]);

  expect(text.printed).toHaveLength(SCENARIOS.length);
  expect(text.printed[0]).toMatch(/^normal +A1 +reads the ticket/);
  expect(json.printed).toHaveLength(1);
  const { scenarios } = JSON.parse(json.printed[0] ?? '') as { scenarios: { name: string }[] };
  expect(scenarios.map(({ name }) => name)).toEqual(SCENARIOS.map(({ name }) => name));
});

test('a folder without an example is refused, and what it should hold is named', async () => {
  await expect(loadDevExample(dir)).rejects.toThrow(/expected a folder with dev-example\.js/);
  writeFileSync(join(dir, 'dev-example.ts'), '');
  await expect(loadDevExample(dir)).rejects.toThrow(/holds TypeScript only: compile it/);
  await expect(loadDevExample(join(dir, 'nowhere'))).rejects.toThrow(/which is no folder/);
});

test('an example with a wrong value is refused, and the value is named', async () => {
  write({ ...devExample, processes: [{ ...devExample.processes[0], urlVariable: 'PATH' }] });

  await expect(loadDevExample(dir)).rejects.toThrow(/HOLDFAST_EXAMPLE_[^]*processes\[0\]\.urlVariable/);
});

test('a scenario that expects nothing in particular expects success', async () => {
  const [first] = devExample.scenarios;
  const { expected: _expected, ...scenario } = first ?? {};
  write({ ...devExample, scenarios: [scenario] });

  const example = await loadDevExample(dir);

  expect(example.scenarios[0]?.expected).toEqual({ terminal: 'SUCCEEDED' });
});

test('an example that does not load is refused', async () => {
  writeFileSync(join(dir, 'dev-example.js'), 'throw new Error("broken");');

  await expect(loadDevExample(dir)).rejects.toThrow(/whose dev-example\.js loads/);
});
