/** R55, R98: the context of a run of any length stays within its size, and costs the same in every step. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { signThinking } from '../../../testing/model-server/sent-blocks';
import type { ArtifactHash } from '../../../workflows/contract/ids';
import { AGENT, openContextStage, use, type ContextStage, type Run } from './context-stage';
import { bytesOf, fencesOf, findFence, judgeRequest } from './read-request';

let stage: ContextStage;
beforeAll(async () => {
  stage = await openContextStage();
});
afterAll(async () => {
  await stage.close();
});

const RESULT = 'result text. '.repeat(250);

/** One read of about 3 kB in each step. */
const runStep = async (run: Run, step: number, context: ArtifactHash) => {
  const blocks = [
    { type: 'thinking' as const, thinking: `step ${String(step)}`, signature: signThinking(`step ${String(step)}`) },
    use(`toolu_${String(step)}`, { ticket: `T${String(step)}` }),
  ];
  const candidate = await run.propose(step, context, blocks);
  const fact = { object: `ticket:T${String(step)}`, field: 'team', value: 'platform' };
  await run.call(step, 1, {}, { content: { step, text: RESULT }, facts: [fact] });
  await run.carry(step);
  const startedAt = performance.now();
  const frozen = await run.freeze(step + 1, context, { candidate, ended: [{ ordinal: 1 }] });
  return { ...frozen, ms: performance.now() - startedAt };
};

const median = (values: readonly number[]): number =>
  [...values].sort((one, other) => one - other)[values.length >> 1] ?? 0;

const STEPS = 300;

test('300 steps with 3 kB results: every context fits, fresh workers agree, and late steps cost what early ones do', async () => {
  const run = await stage.begin();
  let context = (await run.freeze(1, undefined)).context;
  const freezeMs: number[] = [];
  const projectMs: number[] = [];
  let roots = 0;
  for (let step = 1; step <= STEPS; step += 1) {
    const frozen = await runStep(run, step, context);
    context = frozen.context;
    freezeMs.push(frozen.ms);
    const startedAt = performance.now();
    const request = await run.worker.project(run.ref, context);
    projectMs.push(performance.now() - startedAt);
    const manifest = await run.manifest(context);
    if (manifest.parent === undefined) roots += 1;
    expect(bytesOf(request)).toBeLessThanOrEqual(AGENT.model.maxContextBytes);
    expect(fencesOf(request).filter(({ name }) => name === 'task')).toHaveLength(1);
    expect(findFence(request, 'result')).toMatchObject({ evidence: `E${String(step)}.1`, result: { step } });
    if (step % 25 === 0) {
      expect(judgeRequest(request)).toBe('accepted');
      expect(JSON.stringify(await stage.worker().project(run.ref, context))).toBe(JSON.stringify(request));
    }
  }
  const request = await run.worker.project(run.ref, context);
  const status = findFence(request, 'status');
  expect(status?.['facts']).toHaveLength(60);
  expect(findFence(request, 'left_out')).toMatchObject({ exchanges: expect.any(Number) });
  expect(roots).toBeGreaterThan(5);
  expect(roots).toBeLessThan(STEPS / 5);
  const early = median(freezeMs.slice(10, 60));
  const late = median(freezeMs.slice(-50));
  console.log({ freezeEarlyMs: early, freezeLateMs: late, projectMs: median(projectMs), roots });
  expect(late).toBeLessThan(early * 4 + 20);
});

test('a context that the provider finds too long is followed by one of at most half the size, which can be read on', async () => {
  const run = await stage.begin();
  let context = (await run.freeze(1, undefined)).context;
  for (let step = 1; step <= 10; step += 1) context = (await runStep(run, step, context)).context;
  const before = await run.worker.project(run.ref, context);
  const smaller = await run.freeze(12, context, { shrinks: 1 });
  const after = await run.worker.project(run.ref, smaller.context);
  expect(bytesOf(after) - bytesOfFrame(after)).toBeLessThan((bytesOf(before) - bytesOfFrame(before)) / 2);
  expect(findFence(after, 'result')).toMatchObject({ evidence: 'E10.1' });
  expect(judgeRequest(after)).toBe('accepted');
  expect(JSON.stringify(await stage.worker().project(run.ref, smaller.context))).toBe(JSON.stringify(after));
  expect((await run.manifest(smaller.context)).parent).toBeUndefined();
});

const bytesOfFrame = ({ system, tools, messages }: Parameters<typeof bytesOf>[0]): number =>
  Buffer.byteLength(JSON.stringify({ system, tools, first: messages[0] }));

test('ten parallel results of 100 kB fit, each with its digest', async () => {
  const run = await stage.begin();
  const first = await run.freeze(1, undefined);
  const ordinals = Array.from({ length: 10 }, (_, index) => index + 1);
  const candidate = await run.propose(
    1,
    first.context,
    ordinals.map((ordinal) => use(`toolu_${String(ordinal)}`)),
  );
  for (const ordinal of ordinals) await run.call(1, ordinal, {}, { content: { ordinal, text: 'z'.repeat(100_000) } });
  await run.carry(1);
  const second = await run.freeze(2, first.context, { candidate, ended: ordinals.map((ordinal) => ({ ordinal })) });
  const request = await run.worker.project(run.ref, second.context);
  expect(judgeRequest(request)).toBe('accepted');
  expect(bytesOf(request)).toBeLessThan(AGENT.model.maxContextBytes);
  const results = fencesOf(request).filter(({ name }) => name === 'result');
  expect(results.map(({ content }) => content['evidence'])).toEqual(ordinals.map((ordinal) => `E1.${String(ordinal)}`));
});
