/** The steps of a long run on its page, and how little is read to show them. */
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { evidenceIdOf, operationIdOf } from '../../../workflows/contract/ids';
import type { RunRef } from '../../../workflows/contract/records';
import { setHttpStage, type HttpStage } from '../../support/http/http-stage';
import {
  endAs,
  GRANT,
  hashFrom,
  newAttempt,
  newOperation,
  newRef,
  newRun,
  resultOf,
  usage,
} from '../../support/store-contract/fixtures';

const OLGA = { tenant: 'acme', subject: 'olga', roles: ['operator'] };
const STEPS = 120;
const LIMITS = {
  maxSteps: 500,
  maxTokens: 100_000,
  maxCostMicros: 1_000_000,
  maxToolCalls: 500,
  deadlineMs: 3_600_000,
};

let stage: HttpStage;
let ref: RunRef;
let cookie: string;
beforeAll(async () => {
  stage = await setHttpStage();
  ref = await longRun();
  const token = await stage.tokenOf(OLGA);
  const response = await stage.app.request('/signin', {
    method: 'POST',
    body: new URLSearchParams({ token }),
    headers: { 'Sec-Fetch-Site': 'same-origin' },
  });
  cookie = (response.headers.get('Set-Cookie') ?? '').split(';')[0] ?? '';
});
afterAll(() => stage.close());

/** One attempt, one decision and one operation in each step; the model has answered in the first alone. */
const longRun = async (): Promise<RunRef> => {
  const { store } = stage;
  const made = newRef('acme');
  const definition = await store.artifacts.putJson(made.tenant, { limits: LIMITS });
  const candidate = await store.artifacts.putJson(made.tenant, { model: 'model-of-step-1' });
  await store.runs.start(newRun(made));
  await store.runs.open(made, { definition, deadlineMs: LIMITS.deadlineMs });
  for (let step = 1; step <= STEPS; step += 1) {
    await store.attempts.open({ ref: made, events: [] }, newAttempt(step, 1, 10));
    await store.judgements.record(made, {
      decisions: [
        {
          step,
          attempt: 1,
          ordinal: 0,
          validator: `validator-${String(step)}`,
          validatorVersion: '1',
          phase: 'proposal',
          try: 1,
          inputHash: hashFrom('input'),
          verdict: 'pass',
          evidence: {},
        },
      ],
      operations: [newOperation(made, step)],
      artifacts: [],
    });
  }
  const end = { state: 'STORED', candidate, outcome: {}, usage: usage(10) } as const;
  await store.attempts.end({ ref: made, step: 1, attempt: 1 }, end);
  return made;
};

const look = async (path: string): Promise<Response> =>
  stage.unfailed(await stage.app.request(path, { headers: { Cookie: cookie } }));

const pathOf = (query = ''): string => `/runs/${ref.run}${query}`;
const stepsIn = (html: string): readonly number[] =>
  [...html.matchAll(/id="step-(\d+)"/g)].map(([, step]) => Number(step));
const linkIn = (html: string, name: string): string | undefined =>
  new RegExp(`<a href="([^"#]+)#steps-title">${name}</a>`).exec(html)?.[1];
const range = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

/** The steps of this page and of all that the link leads to, one after another. */
const walk = async (from: string, name: string): Promise<readonly (readonly number[])[]> => {
  const pages: (readonly number[])[] = [];
  let path: string | undefined = from;
  while (path !== undefined && pages.length <= STEPS) {
    const html: string = await (await look(path)).text();
    pages.push(stepsIn(html));
    path = linkIn(html, name);
  }
  return pages;
};

describe('the steps of a long run', () => {
  test('are shown page by page, the newest first, with no gap and no repeat', async () => {
    expect(await walk(pathOf(), 'Older steps')).toEqual([
      range(96, 120),
      range(71, 95),
      range(46, 70),
      range(21, 45),
      range(1, 20),
    ]);
  });

  test('are shown again on the way back', async () => {
    expect(await walk(pathOf('?before=21'), 'Newer steps')).toEqual([
      range(1, 20),
      range(21, 45),
      range(46, 70),
      range(71, 95),
      range(96, 120),
    ]);
  });

  test('come with their attempts, decisions and operations', async () => {
    const html = await (await look(pathOf('?before=71'))).text();

    for (const step of range(46, 70)) {
      expect(html).toContain(`<code>validator-${String(step)}@1</code>`);
      expect(html).toContain(`<code>${operationIdOf(ref.run, step, 1)}</code>`);
      expect(html).toContain(hashFrom(`context ${String(step)}`));
    }
    expect(html).toContain('Steps 46 to 70 of 120');
    expect(html).toContain('model-of-step-1');
    for (const step of [45, 71]) expect(html).not.toContain(`validator-${String(step)}@1`);
  });

  test.each(['0', '1', '-5', '2.5', 'x', 'all', '99999999999'])('are refused before %s', async (before) => {
    expect((await look(pathOf(`?before=${before}`))).status).toBe(400);
  });

  test('are the newest before a step that is not there yet', async () => {
    expect(stepsIn(await (await look(pathOf('?before=900'))).text())).toEqual(range(96, 120));
  });

  test.each(['', '?before=71'])('are all that is read of the store: %s', async (query) => {
    const { attempts, decisions, operations, ledger, reader } = stage.store;
    const whole = [
      jest.spyOn(attempts, 'list'),
      jest.spyOn(decisions, 'list'),
      jest.spyOn(operations, 'list'),
      jest.spyOn(ledger, 'entries'),
    ];
    const records = jest.spyOn(reader, 'stepRecords');
    const evidence = jest.spyOn(reader, 'operations');

    await look(pathOf(query));

    for (const spy of whole) expect(spy).not.toHaveBeenCalled();
    expect(records).toHaveBeenCalledTimes(1);
    const read = await records.mock.results[0]?.value;
    expect(read).toMatchObject({ attempts: { length: 25 }, decisions: { length: 25 }, operations: { length: 25 } });
    expect(evidence.mock.calls.map(([, ids]) => ids)).toEqual([[]]);
    jest.restoreAllMocks();
  });

  test('are not needed for the links of claims, nor for what is to be resolved after the end', async () => {
    const { operations, runs } = stage.store;
    const [proved, unproved] = [operationIdOf(ref.run, 2, 1), operationIdOf(ref.run, 3, 1)];
    for (const id of [proved, unproved]) await operations.dispatch(ref, id, { ...GRANT, maxToolCalls: 500 });
    await operations.settle(ref, proved, { state: 'SUCCEEDED', output: hashFrom('output') });
    await operations.settle(ref, unproved, { state: 'UNRESOLVED' });
    const claims = [{ text: 'It is closed.', evidence: [evidenceIdOf(2, 1)] }];
    await runs.commit(
      { ref, events: [] },
      { ...endAs(ref, 'FAILED'), buildResult: (terminal) => ({ ...resultOf(ref)(terminal), claims }) },
    );

    const html = await (await look(pathOf())).text();

    expect(stepsIn(html)).toEqual(range(96, 120));
    expect(html).toContain(`<a class="evidence" href="/runs/${ref.run}/artifacts/${hashFrom('output')}">E2.1</a>`);
    expect(html).toContain(`value="${unproved}"`);
    expect(html).not.toContain(`value="${proved}"`);
  });
});
