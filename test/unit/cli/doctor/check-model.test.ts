import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { checkModel } from '../../../../cli/doctor/check-model';
import { loadSettings, type Settings } from '../../../../config/settings';
import { startModelServer, text, turn, type ModelServer } from '../../../../testing';

let server: Server;
let url: string;
let status: number;
let asked: { readonly url: string; readonly key: unknown }[];

beforeEach(async () => {
  status = 200;
  asked = [];
  server = createServer((request, response) => {
    asked.push({ url: request.url ?? '', key: request.headers['x-api-key'] });
    response.writeHead(status).end('{"data":[]}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
});
afterEach(async () => {
  server.close();
  await once(server, 'close');
});

const settings = (baseUrl: string): Settings => loadSettings({ ANTHROPIC_API_KEY: 'key', ANTHROPIC_BASE_URL: baseUrl });

test('a provider that answers is asked for its models, with the key', async () => {
  expect(await checkModel(settings(url), {})).toMatchObject({
    status: 'ok',
    found: `${url} answers (status 200), with a key`,
  });
  expect(asked).toEqual([{ url: '/v1/models?limit=1', key: 'key' }]);
});

test.each([401, 403])('a key that is refused with %d is wrong', async (refusal) => {
  status = refusal;

  expect(await checkModel(settings(url), {})).toMatchObject({
    status: 'wrong',
    found: `${url} refuses the key: status ${String(refusal)}`,
    mend: expect.stringContaining('ANTHROPIC_API_KEY'),
  });
});

test('an address that does not answer is wrong', async () => {
  expect(await checkModel(settings('http://127.0.0.1:1'), {})).toMatchObject({
    status: 'wrong',
    mend: expect.stringContaining('ANTHROPIC_BASE_URL'),
  });
});

test('without a key there is no model', async () => {
  expect(await checkModel(loadSettings({}), {})).toMatchObject({
    status: 'wrong',
    found: expect.stringContaining('ANTHROPIC_API_KEY is not set'),
  });
});

describe('the offline server', () => {
  let model: ModelServer;
  beforeEach(async () => {
    model = await startModelServer({ script: () => turn([text('hello')]) });
  });
  afterEach(async () => {
    await model.close();
  });

  test('is recognised where it stands in for the provider', async () => {
    expect(await checkModel(settings(model.url), {})).toMatchObject({
      status: 'ok',
      found: `scripted, offline, at ${model.url}`,
    });
  });
});
