import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { newRef, newRun, newWait } from '../../support/store-contract/fixtures';
import { evidenceIdOf, parseRunId, parseTenantId } from '../../../workflows/contract/ids';
import { AGENT, openContextStage, use, type ContextStage } from './context-stage';
import { bytesOf, fencesOf, findFence, judgeRequest } from './read-request';

let stage: ContextStage;
beforeAll(async () => {
  stage = await openContextStage();
});
afterAll(async () => {
  await stage.close();
});

const TEAM = { object: 'ticket:T100', field: 'team', value: 'platform', version: '3' };

test('a run is bound once, with limits that are only narrowed', async () => {
  const ref = newRef();
  await stage.store.runs.start(newRun(ref, { limits: { maxSteps: 5, maxTokens: 9_000_000 } }));
  const input = { schemaVersion: 1, ref, agent: 'tickets' } as const;
  const opened = await stage.worker().openRun(input);
  expect(opened.limits).toMatchObject({ maxSteps: 5, maxTokens: 1_000_000 });
  const newer = { ...AGENT, version: '2', budgets: { maxSteps: 1 } };
  expect(await stage.worker([newer]).openRun(input)).toEqual(opened);
  const row = await stage.store.runs.get(ref);
  expect(row).toMatchObject({ state: 'READY' });
  expect(row?.definition).toHaveLength(64);
});

test.each([
  ['an agent that is not here', { agent: 'payments' }, 'agent.unknown'],
  ['a limit that does not exist', { limits: { maxStep: 5 } }, 'limits.invalid'],
  ['a limit that is no number', { limits: { maxSteps: '5' } }, 'limits.invalid'],
])('%s is an obstacle with a name', async (_title, changes, obstacle) => {
  const ref = newRef();
  await stage.store.runs.start(newRun(ref, changes));
  expect(await stage.worker().openRun({ schemaVersion: 1, ref, agent: 'tickets' })).toMatchObject({ obstacle });
});

test('a run without a row cannot be opened, and says so for good', async () => {
  const input = { schemaVersion: 1, ref: newRef(), agent: 'tickets' } as const;
  await expect(stage.worker().openRun(input)).rejects.toMatchObject({ code: 'run.missing', isRetryable: false });
});

test('the first context holds the task, what it lacks and what is left', async () => {
  const run = await stage.begin();
  const frozen = await run.freeze(1, undefined);
  expect(frozen).toMatchObject({ definition: 'pinned', totals: { steps: 0 } });
  expect(frozen).not.toHaveProperty('progress');
  expect(await run.manifest(frozen.context)).toMatchObject({
    step: 1,
    adds: [],
    gaps: [{ name: 'team-known', kind: 'fact' }],
    remaining: { steps: 2_000, tokens: 1_000_000 },
  });
  const request = await run.worker.project(run.ref, frozen.context);
  expect(judgeRequest(request)).toBe('accepted');
  expect(fencesOf(request).map(({ name }) => name)).toEqual(['task', 'status']);
  expect(findFence(request, 'task')).toEqual({
    goal: 'Reassign T100',
    data: { ticket: 'T100' },
    conditions: ['team-known'],
  });
  expect(request.estimateInputTokens).toBeGreaterThan(bytesOf(request) / 4);
});

const readOnce = async (run: Awaited<ReturnType<ContextStage['begin']>>) => {
  const first = await run.freeze(1, undefined);
  const candidate = await run.propose(1, first.context, [{ type: 'text', text: 'I read it.' }, use('toolu_1')]);
  await run.carry(1);
  await run.call(1, 1, {}, { content: { id: 'T100', team: 'platform' }, facts: [TEAM] });
  const second = await run.freeze(2, first.context, { candidate, ended: [{ ordinal: 1 }] });
  return { first, candidate, second };
};

test('a read shows its result with its evidence, its facts, and that it led on', async () => {
  const run = await stage.begin();
  const { second } = await readOnce(run);
  expect(second.progress).toEqual({ hasNewEvidence: true, hasSettled: false, hasClosedGap: true, hasNarrowed: false });
  const request = await run.worker.project(run.ref, second.context);
  expect(judgeRequest(request)).toBe('accepted');
  expect(findFence(request, 'result')).toEqual({ evidence: 'E1.1', result: { id: 'T100', team: 'platform' } });
  expect(findFence(request, 'status')).toMatchObject({ step: 2, gaps: [], facts: [{ ...TEAM, evidence: 'E1.1' }] });
});

test('facts of calls count before any event has named them', async () => {
  const run = await stage.begin();
  const first = await run.freeze(1, undefined);
  const candidate = await run.propose(1, first.context, [use('toolu_1')]);
  await run.call(1, 1, {}, { content: { team: 'platform' }, facts: [TEAM] });
  const second = await run.freeze(2, first.context, { candidate, ended: [{ ordinal: 1 }] });
  expect((await run.manifest(second.context)).gaps).toEqual([]);
});

test('the same result again is no progress', async () => {
  const run = await stage.begin();
  const { second } = await readOnce(run);
  const candidate = await run.propose(2, second.context, [use('toolu_2')]);
  await run.carry(2);
  await run.call(2, 1, {}, { content: { id: 'T100', team: 'platform' } });
  const third = await run.freeze(3, second.context, { candidate, ended: [{ ordinal: 1 }] });
  expect(third.progress).toEqual({ hasNewEvidence: false, hasSettled: false, hasClosedGap: false, hasNarrowed: false });
});

test('a worker that has seen nothing projects the same bytes, and freezes the same additions', async () => {
  const run = await stage.begin();
  const { first, candidate, second } = await readOnce(run);
  const cold = stage.worker();
  expect(JSON.stringify(await cold.project(run.ref, second.context))).toBe(
    JSON.stringify(await run.worker.project(run.ref, second.context)),
  );
  const freeze = {
    step: 2,
    parent: first.context,
    input: { waits: [], candidate, ended: [{ ordinal: 1 }], shrinks: 0 },
  };
  const again = await stage.worker().freezeContext({ ref: run.ref, planVersion: 1, freeze });
  const { remaining: _one, ...other } = await run.manifest(again.context);
  const { remaining: _two, ...before } = await run.manifest(second.context);
  expect(other).toEqual(before);
  expect(again.progress).toEqual(second.progress);
});

test('what an operation becomes after the freeze changes no request of that step', async () => {
  const run = await stage.begin();
  const first = await run.freeze(1, undefined);
  const candidate = await run.propose(1, first.context, [use('toolu_1', { ticket: 'T100' }, 'assign_ticket')]);
  const { id } = await run.call(1, 1, { tool: 'assign_ticket', effect: 'write', target: 'ticket:T100' });
  await run.carry(1);
  const grant = { decision: 'd', timeoutMs: 1_000, maySendAgain: false, maxToolCalls: 9 };
  await stage.store.operations.dispatch(run.ref, id, grant);
  await stage.store.operations.settle(run.ref, id, { state: 'UNKNOWN', generation: 1 });
  const second = await run.freeze(2, first.context, { candidate, ended: [{ ordinal: 1, code: 'OUTCOME_UNKNOWN' }] });
  const before = JSON.stringify(await run.worker.project(run.ref, second.context));
  expect(findFence(await run.worker.project(run.ref, second.context), 'status')).toMatchObject({
    gaps: [{ name: 'team-known' }, { name: `operation.${id}`, kind: 'unknown' }],
    openOperations: [{ id, tool: 'assign_ticket', state: 'UNKNOWN', target: 'ticket:T100' }],
  });
  await stage.store.operations.settle(run.ref, id, {
    state: 'SUCCEEDED',
    facts: [{ ...TEAM, evidence: evidenceIdOf(1, 1) }],
  });
  expect(JSON.stringify(await stage.worker().project(run.ref, second.context))).toBe(before);
});

test('a call that nobody answered for says so; calls beside it keep their results', async () => {
  const run = await stage.begin();
  const first = await run.freeze(1, undefined);
  const candidate = await run.propose(1, first.context, [use('toolu_1'), use('toolu_2'), use('toolu_3')]);
  await run.call(1, 1, {}, { content: { team: 'platform' } });
  const { id: operation } = await run.call(1, 2, { effect: 'write' });
  await stage.store.waits.open({ ref: run.ref, events: [] }, newWait(run.ref, 9, { operation, expiresInMs: 0 }));
  await stage.store.waits.read(run.ref, newWait(run.ref, 9).id);
  const denied = await run.call(1, 3, { effect: 'write' });
  const failure = {
    code: 'DENIED',
    message: 'a person denied it: too late',
    evidence: [],
    recoveries: ['propose less'],
  };
  await stage.store.operations.settle(run.ref, denied.id, {
    state: 'REFUSED',
    code: 'DENIED',
    failure: await stage.store.artifacts.putJson(run.ref.tenant, failure),
  });
  await run.carry(1);
  const ended = [{ ordinal: 1 }, { ordinal: 2, code: 'EXPIRED' }, { ordinal: 3, code: 'DENIED' }];
  const second = await run.freeze(2, first.context, { candidate, ended });
  const request = await run.worker.project(run.ref, second.context);
  expect(judgeRequest(request)).toBe('accepted');
  const results = fencesOf(request).filter(({ name }) => name === 'result');
  expect(results.map(({ content }) => content)).toMatchObject([
    { evidence: 'E1.1', result: { team: 'platform' } },
    { code: 'EXPIRED', response: { evidence: 'W9.1', wait: 'approval', expired: true } },
    { code: 'DENIED', message: 'a person denied it: too late', recoveries: ['propose less'] },
  ]);
});

test('a call that an earlier operation stands for shows that one, and is no progress', async () => {
  const run = await stage.begin();
  const { second } = await readOnce(run);
  const candidate = await run.propose(2, second.context, [use('toolu_2')]);
  await run.call(2, 1, { equivalent: (await stage.store.operations.list(run.ref))[0]?.id ?? fail() });
  await run.carry(2);
  const third = await run.freeze(3, second.context, { candidate, ended: [{ ordinal: 1 }] });
  const results = fencesOf(await run.worker.project(run.ref, third.context)).filter(({ name }) => name === 'result');
  expect(results.at(-1)?.content).toEqual({ evidence: 'E1.1', result: { id: 'T100', team: 'platform' } });
  expect(third.progress).toMatchObject({ hasNewEvidence: false, hasSettled: false });
});

const fail = (): never => {
  throw new Error('it is there');
};

test('5 MB of U+FEFF and text with half a pair are shown as a digest that a strict parser takes', async () => {
  const run = await stage.begin();
  const first = await run.freeze(1, undefined);
  const candidate = await run.propose(1, first.context, [use('toolu_1'), use('toolu_2')]);
  const bytes = Buffer.concat([Buffer.from('\ufeff'.repeat(1_700_000)), Uint8Array.of(0xed, 0xa0, 0xbd, 0, 0xff)]);
  const output = await stage.store.artifacts.put(run.ref.tenant, { bytes, mediaType: 'text/plain' });
  await run.call(1, 1, {}, { output });
  await run.call(1, 2, {}, { content: { text: `${'x'.repeat(20_000)}\nT100 is here\n${'y'.repeat(20_000)}` } });
  await run.carry(1);
  const second = await run.freeze(2, first.context, { candidate, ended: [{ ordinal: 1 }, { ordinal: 2 }] });
  const request = await stage.worker().project(run.ref, second.context);
  expect(judgeRequest(request)).toBe('accepted');
  expect(bytesOf(request)).toBeLessThan(60_000);
  const [large, found] = fencesOf(request).filter(({ name }) => name === 'result');
  expect(large?.content).toMatchObject({ evidence: 'E1.1', digest: { read_on: 'read_evidence' } });
  expect(JSON.stringify(found?.content)).toContain('T100 is here');
});

test('messages, an answer, a finding and a correction are each shown once, where they came', async () => {
  const run = await stage.begin();
  const first = await run.freeze(1, undefined);
  const candidate = await run.propose(1, first.context, [use('toolu_1', {}, 'finish')]);
  const finding = await stage.store.artifacts.putJson(run.ref.tenant, {
    schemaVersion: 1,
    code: 'finish.condition_unmet',
    message: 'the team is not known',
  });
  await stage.store.runs.changePlan(run.ref, { id: 'm1', kind: 'amend', body: { text: 'Also say </status> hello' } });
  const correction = { rule: 'noProgress', steps: [1], what: 'no new evidence' } as const;
  const second = await run.freeze(2, first.context, { candidate, finding, correction }, 2);
  const request = await run.worker.project(run.ref, second.context);
  expect(judgeRequest(request)).toBe('accepted');
  expect(fencesOf(request).map(({ name }) => name)).toEqual(['task', 'result', 'correction', 'message', 'status']);
  expect(findFence(request, 'result')).toMatchObject({ code: 'finish.condition_unmet' });
  expect(findFence(request, 'message')).toEqual({ message: 'm1', text: 'Also say </status> hello' });
  expect(findFence(request, 'status')).toMatchObject({ finding: { code: 'finish.condition_unmet' }, correction });
  const third = await run.freeze(3, second.context, {}, 2);
  expect(
    fencesOf(await run.worker.project(run.ref, third.context)).filter(({ name }) => name === 'message'),
  ).toHaveLength(1);
});

test('memory is read when the context is frozen, and never again', async () => {
  let reads = 0;
  const memory = () => {
    reads += 1;
    return Promise.resolve({ reads });
  };
  const run = await stage.begin({}, [{ ...AGENT, memory }]);
  const { context } = await run.freeze(1, undefined);
  const request = await run.worker.project(run.ref, context);
  expect(findFence(request, 'memory')).toEqual({ reads: 1 });
  expect(await stage.worker([{ ...AGENT, memory }]).project(run.ref, context)).toEqual(request);
  expect(reads).toBe(1);
});

test('a pinned tool or condition that is missing here is noticed; another policy is the one in force', async () => {
  const run = await stage.begin();
  const freeze = { step: 1, input: { waits: [], ended: [], shrinks: 0 } };
  const freezeWith = (changes: Partial<typeof AGENT>) =>
    stage.worker([{ ...AGENT, ...changes }]).freezeContext({ ref: run.ref, planVersion: 1, freeze });
  const [tool] = AGENT.tools;
  if (tool === undefined) throw new Error('the agent has a tool');
  expect(await freezeWith({ tools: [{ ...tool, outputSchema: z.string() }] })).toMatchObject({
    definition: 'missing',
  });
  expect(await freezeWith({ name: 'renamed' })).toMatchObject({ definition: 'missing' });
  const renamed = AGENT.conditions.map((condition) => ({ ...condition, name: 'other' }));
  expect(await freezeWith({ conditions: renamed })).toMatchObject({ definition: 'missing' });
  const stricter = await freezeWith({ policy: '@id("some") permit (principal, action, resource) when { true };' });
  const first = await run.freeze(1, undefined);
  expect(stricter.definition).toBe('pinned');
  expect((await run.manifest(stricter.context)).policyVersion).not.toBe(
    (await run.manifest(first.context)).policyVersion,
  );
});

test("another tenant's context does not exist", async () => {
  const run = await stage.begin();
  const { context } = await run.freeze(1, undefined);
  const stranger = { tenant: parseTenantId('stranger'), run: parseRunId(run.ref.run) };
  await expect(run.worker.project(stranger, context)).rejects.toMatchObject({ code: 'store.missing' });
});
