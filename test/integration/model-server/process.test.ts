import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import Anthropic from '@anthropic-ai/sdk';
import { afterEach, expect, test } from '@jest/globals';
import { PARAMS, failureOf } from './model-client';

const ROOT = join(__dirname, '../../..');
const MAIN = join(ROOT, 'testing/model-server/main.ts');
const SCRIPT = join(__dirname, 'scripted-echo.ts');
const RUN_TYPESCRIPT = ['-r', join(ROOT, 'test/support/ts-register.cjs')];

type Child = ChildProcessByStdio<null, Readable, Readable>;
const children: Child[] = [];
const orphans: number[] = [];

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  for (const pid of orphans.splice(0)) killIfAlive(pid);
});

function killIfAlive(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended, as it should.
  }
}

function run(args: readonly string[]): Child {
  const child = spawn(process.execPath, [...RUN_TYPESCRIPT, MAIN, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  children.push(child);
  return child;
}

async function firstLine(stream: Readable): Promise<string> {
  for await (const line of createInterface({ input: stream })) return line;
  throw new Error('the stream ended without a line');
}

function parseReady(line: string): { readonly ready: true; readonly url: string } {
  return JSON.parse(line) as { ready: true; url: string };
}

async function getJson(url: string): Promise<unknown> {
  return (await fetch(url)).json();
}

async function post(url: string, body: unknown) {
  const response = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
  const answer: unknown = await response.json();
  return { status: response.status, body: answer };
}

test('the process says where it is, serves, and is steered over HTTP', async () => {
  const child = run(['--port', '0', '--script', SCRIPT]);
  const { ready, url } = parseReady(await firstLine(child.stdout));
  const client = new Anthropic({ baseURL: url, apiKey: 'k', maxRetries: 0, logLevel: 'off' });

  const added = await post(`${url}/_control/faults`, { fault: { kind: 'status', status: 529 } });
  const failure = await failureOf(client.messages.stream(PARAMS).finalMessage());
  const message = await client.messages.stream(PARAMS).finalMessage();
  const book = await getJson(`${url}/_control/book`);
  const requests = await getJson(`${url}/_control/requests`);
  await post(`${url}/_control/reset`, {});

  expect([ready, added]).toEqual([true, { status: 201, body: { added: 1 } }]);
  expect(failure.name).toBe('OverloadedError');
  expect(message.content).toMatchObject([{ text: 'You said: Read ticket T100.' }]);
  expect(book).toMatchObject([{ request: 2, complete: true, stopReason: 'end_turn' }]);
  expect(requests).toMatchObject([
    { number: 1, outcome: { kind: 'faulted' } },
    { number: 2, outcome: { kind: 'answered', complete: true } },
  ]);
  expect(JSON.stringify(requests)).not.toContain('Bearer k');
  expect([await getJson(`${url}/_control/book`), await getJson(`${url}/_control/requests`)]).toEqual([[], []]);

  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);
});

test('a fault that is none is refused with the field named, and none of the list is armed', async () => {
  const child = run(['--script', SCRIPT]);
  const { url } = parseReady(await firstLine(child.stdout));
  const faults = [{ fault: { kind: 'status', status: 529 } }, { fault: { kind: 'stall', at: { afterEvents: -1 } } }];

  const refused = await post(`${url}/_control/faults`, faults);
  const unknown = await post(`${url}/v1/complete`, {});
  const client = new Anthropic({ baseURL: url, apiKey: 'k', maxRetries: 0, logLevel: 'off' });

  expect(refused).toMatchObject({ status: 400, body: { code: 'model_server.invalid_fault' } });
  expect(JSON.stringify(refused.body)).toContain('1.fault.at');
  expect(unknown).toMatchObject({ status: 404, body: { error: { type: 'not_found_error' } } });
  expect((await client.messages.stream(PARAMS).finalMessage()).stop_reason).toBe('end_turn');
});

test.each([
  [[], '--script is missing'],
  [['--script', SCRIPT, '--port', 'x'], '--port: expected an integer from 0 to 65535, got x'],
  [['--script', SCRIPT, '--colour'], "Unknown option '--colour'"],
  [['--script', MAIN], 'expected a named export "script" or "createScript" that is a function'],
])('the arguments %j end with code 2 and a reason', async (args, reason) => {
  const child = run(args);
  const exited = once(child, 'exit');

  expect(await firstLine(child.stderr)).toContain(reason);
  expect(await exited).toEqual([2, null]);
});

test('with --exit-with-parent it ends when its parent was killed', async () => {
  const serve = [...RUN_TYPESCRIPT, MAIN, '--script', SCRIPT, '--exit-with-parent'];
  const parentCode = `
    const { spawn } = require('node:child_process');
    const child = spawn(process.execPath, ${JSON.stringify(serve)}, { stdio: ['ignore', 'pipe', 'inherit'] });
    child.stdout.once('data', () => console.log(child.pid));
  `;
  const parent: Child = spawn(process.execPath, ['-e', parentCode], { stdio: ['ignore', 'pipe', 'pipe'] });
  children.push(parent);
  const serverPid = Number(await firstLine(parent.stdout));
  orphans.push(serverPid);

  parent.kill('SIGKILL');

  // The server holds this pipe too: it closes when both have ended.
  await once(parent.stderr.resume(), 'close');
  expect(parent.signalCode).toBe('SIGKILL');
});
