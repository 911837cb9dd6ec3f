import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { DevExample, DevScenario } from '../../../../cli/dev/dev-example';
import { prepareScenario, readEffects } from '../../../../cli/dev/example-control';
import { parseRunId } from '../../../../workflows/contract/ids';

interface Asked {
  readonly route: string;
  readonly body: unknown;
}

let server: Server;
let url: string;
let asked: Asked[];
let answer: { status: number; body: unknown };

beforeEach(async () => {
  asked = [];
  answer = { status: 200, body: {} };
  server = createServer((request, response) => {
    void text(request).then((body) => {
      asked.push({
        route: `${request.method ?? ''} ${request.url ?? ''}`,
        body: body === '' ? undefined : JSON.parse(body),
      });
      response.writeHead(answer.status).end(JSON.stringify(answer.body));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
});
afterEach(async () => {
  server.close();
  await once(server, 'close');
});

const example: DevExample = {
  schemaVersion: 1,
  name: 'tickets',
  agents: 'agents',
  script: 'model-script',
  processes: [{ name: 'desk', script: 'desk/main', args: [], resetPath: '/reset', effectsPath: '/effects' }],
  scenarios: [],
  folder: '/',
  modulePathOf: (module) => module,
};
const scenario: DevScenario = {
  name: 'faulty',
  id: 'X1',
  title: 'all goes wrong',
  agent: 'tickets',
  goal: 'g',
  data: {},
  prepare: [{ process: 'desk', path: '/faults', body: { fault: 1 } }],
  modelFaults: [{ fault: { kind: 'refusal' } }],
  answers: [],
  expected: { terminal: 'SUCCEEDED', reason: 'r', effects: [] },
};

test('everything is brought back to its beginning before the faults of a scenario', async () => {
  await prepareScenario(example, scenario, { processes: { desk: url }, modelUrl: `${url}/model` });

  expect(asked).toEqual([
    { route: 'POST /reset', body: undefined },
    { route: 'POST /faults', body: { fault: 1 } },
    { route: 'POST /model/_control/reset', body: undefined },
    { route: 'POST /model/_control/faults', body: scenario.modelFaults },
  ]);
});

test('a real model is left alone', async () => {
  await prepareScenario(example, scenario, { processes: { desk: url } });

  expect(asked.map(({ route }) => route)).toEqual(['POST /reset', 'POST /faults']);
});

test('a refusal is told with the request and what was answered', async () => {
  answer = { status: 422, body: { code: 'bad_rule' } };

  await expect(prepareScenario(example, scenario, { processes: { desk: url } })).rejects.toMatchObject({
    code: 'example.process_failed',
    message: expect.stringMatching(/POST .*\/reset failed: status 422: .*bad_rule/),
  });
});

test('effects of other runs are left out, and those that nobody explains are not', async () => {
  const keys = ['op_4f3c2a_1_1', 'op_another_1_1', null, 'no-key-of-ours'];
  answer = { status: 200, body: { effects: keys.map((key) => ({ key })) } };

  const effects = await readEffects(example, { processes: { desk: url } }, parseRunId('run_4f3c2a'));

  expect(effects?.map(({ key }) => key)).toEqual(['op_4f3c2a_1_1', null, 'no-key-of-ours']);
});

test('an example that names no effectsPath has its effects not counted, which is not none', async () => {
  const silent = { ...example, processes: [{ name: 'desk', script: 'desk/main', args: [] }] };

  expect(await readEffects(silent, { processes: { desk: url } }, parseRunId('run_4f3c2a'))).toBeUndefined();
  expect(asked).toEqual([]);
});
