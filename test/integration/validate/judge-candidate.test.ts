import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readArtifact } from '../../../activities/context/read-artifact';
import { CANDIDATE } from '../../../activities/model/candidate';
import { judge } from '../../../activities/validate/judge';
import { fail } from '../../../activities/validate/judgement';
import { loadJudgeContext } from '../../../activities/validate/load-judge-context';
import { LOOK_UPS } from '../../../activities/validate/look-ups';
import { VALIDATORS } from '../../../activities/validate/validator-set';
import type { NewRun } from '../../../store/rows';
import type { AgentDefinition } from '../../../definition/agent';
import { fingerprintOf, operationIdOf, parseArtifactHash } from '../../../workflows/contract/ids';
import { pino } from 'pino';
import { hashFrom, newRef } from '../../support/store-contract/fixtures';
import { callsOf, openJudgeStage, type JudgedRun, type JudgeStage, type Proposed } from './judge-stage';

let stage: JudgeStage;
beforeAll(async () => {
  stage = await openJudgeStage();
});
afterAll(async () => {
  await stage.close();
});

const READ: Proposed = ['read_ticket', { ticket: 'T100' }];
const to = (team: string): Proposed => ['reassign_ticket', { ticket: 'T100', team }];
const isUnmet: AgentDefinition['conditions'] = [
  {
    name: 'reassigned',
    check: ({ facts }) =>
      facts.find('ticket:T100', 'team')?.value === 'network'
        ? { kind: 'met' }
        : { kind: 'gap', gap: { kind: 'fact', lacks: 'T100 is not with network' } },
  },
];

/** Step 1 reads the ticket and the teams. */
const afterReading = async (
  agent: Partial<AgentDefinition> = { conditions: isUnmet },
  row: Partial<NewRun> = {},
): Promise<JudgedRun> => {
  const run = await stage.begin({ agent, row });
  await run.step(1, [READ]);
  await run.succeed(1, 1, [
    { object: 'ticket:T100', field: 'team', value: 'database', version: 'v1' },
    ...['network', 'security', 'legal'].map((team) => ({ object: `team:${team}`, field: 'onCall', value: 'ada' })),
  ]);
  return run;
};

describe('calls', () => {
  test('that are fine get their operations, which nobody has named yet', async () => {
    const run = await afterReading();
    const verdict = await run.judge(await run.propose(2, [READ, to('network')]));

    expect(callsOf(verdict)).toEqual([
      {
        ordinal: 1,
        tool: 'read_ticket',
        effect: 'read',
        phase: 'DUE',
        isShort: true,
        fingerprint: expect.stringMatching(/^[0-9a-f]{16}$/),
      },
      {
        ordinal: 2,
        tool: 'reassign_ticket',
        effect: 'write',
        phase: 'DUE',
        fingerprint: expect.any(String),
        object: expect.stringMatching(/^[0-9a-f]{16}$/),
      },
    ]);
    const row = await run.operation(2, 2);
    expect(row).toMatchObject({
      state: 'CREATED',
      call: 'toolu_2',
      target: 'ticket:T100',
      expectedVersion: 'v1',
      planVersion: 1,
      generation: 0,
    });
    expect(await run.json(row.arguments)).toEqual({ team: 'network', ticket: 'T100' });
    expect(row.argumentHash).toBe(row.arguments);
  });

  test('are judged the same when they are judged again, at once and later, and leave nothing twice', async () => {
    const run = await afterReading();
    const input = await run.propose(2, [READ, to('legal'), to('security'), ['nope', {}]]);
    const verdicts = await Promise.all([run.judge(input), run.judge(input)]);
    const once = await stage.store.decisions.list(run.ref, 2);
    verdicts.push(await run.judge(input));

    expect(new Set(verdicts.map((verdict) => JSON.stringify(verdict))).size).toBe(1);
    expect(await stage.store.decisions.list(run.ref, 2)).toEqual(once);
    expect((await stage.store.operations.list(run.ref)).filter(({ step }) => step === 2)).toHaveLength(4);
    await run.carry(2);
    const facts = await stage.store.facts.list(run.ref, { step: 2, alsoOf: [] });
    expect(facts.filter(({ object }) => object === 'policy:reassign_ticket')).toHaveLength(1);
  });

  test('that need approval come with a complete plan', async () => {
    const run = await afterReading();
    const [call] = callsOf(await run.judge(await run.propose(2, [to('security')])));

    expect(call).toMatchObject({ phase: 'ASKING' });
    expect(await run.json(call?.plan)).toEqual({
      schemaVersion: 1,
      kind: 'approval',
      why: expect.stringContaining('approval'),
      operations: [
        {
          id: operationIdOf(run.ref.run, 2, 1),
          tool: 'reassign_ticket',
          arguments: { ticket: 'T100', team: 'security' },
          target: 'ticket:T100',
          expectedVersion: 'v1',
          risk: 'medium',
        },
      ],
      isComplete: true,
    });
  });

  test('at fault beside a good one end with what the model is told', async () => {
    const run = await afterReading();
    const calls = callsOf(
      await run.judge(
        await run.propose(2, {
          calls: [
            { ordinal: 1, id: 'a', name: 'read_ticket', input: { ticket: 'T100' } },
            { ordinal: 2, id: 'b', name: '__proto__', input: { x: 1 } },
            { ordinal: 3, id: 'c', name: 'read\u0000ticket\ud800', invalidJson: '{"ticket": "T1' },
          ],
        }),
      ),
    );

    expect(calls.map(({ phase, code, tool }) => [phase, code, tool])).toEqual([
      ['DUE', undefined, 'read_ticket'],
      ['ENDED', 'INVALID_ARGUMENT', '__proto__'],
      ['ENDED', 'INVALID_ARGUMENT', 'read\ufffdticket\ufffd'],
    ]);
    const row = await run.operation(2, 3);
    expect(row).toMatchObject({ state: 'REFUSED', code: 'INVALID_ARGUMENT', call: 'c' });
    expect(await run.json(row.failure)).toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining('expected one of read_ticket'),
      recoveries: [expect.any(String)],
    });
    expect(await run.json(row.arguments)).toEqual({ invalidJson: '{"ticket": "T1' });
  });

  test('that are all at fault make no operation', async () => {
    const run = await afterReading();
    const verdict = await run.judge(await run.propose(2, [['read_ticket', { ticket: 7 }]]));

    expect(verdict).toMatchObject({ kind: 'candidateRejected', code: 'candidate.invalid_arguments' });
    expect(await stage.store.operations.list(run.ref)).toHaveLength(1);
    expect(await run.json(verdict.kind === 'candidateRejected' ? verdict.finding : undefined)).toMatchObject({
      schemaVersion: 1,
      field: 'ticket',
      value: 7,
      expected: 'string',
    });
  });
});

describe('what was done before', () => {
  test('is not done again: the recorded result is returned', async () => {
    const run = await afterReading();
    await run.step(2, [to('network')]);
    const done = await run.succeed(2, 1, [{ object: 'ticket:T100', field: 'team', value: 'network', version: 'v2' }]);
    const verdict = await run.step(3, [to('network')]);

    expect(callsOf(verdict)).toMatchObject([{ phase: 'ENDED', result: fingerprintOf(done.resultHash ?? '') }]);
    expect(callsOf(verdict)[0]).not.toHaveProperty('code');
    expect(await run.operation(3, 1)).toMatchObject({
      state: 'REFUSED',
      equivalent: done.id,
      output: done.output,
      evidence: 'E2.1',
      generation: 0,
    });
    const again = await run.step(4, [to('network')]);
    expect(callsOf(again)).toMatchObject([{ phase: 'ENDED', result: fingerprintOf(done.resultHash ?? '') }]);
    expect((await run.operation(4, 1)).equivalent).toBe(done.id);
  });

  test('but with an unknown outcome is waited for', async () => {
    const run = await afterReading();
    await run.step(2, [to('network')]);
    const { id } = await run.operation(2, 1);
    await stage.store.operations.dispatch(run.ref, id, {
      decision: 'd',
      timeoutMs: 1_000,
      maySendAgain: false,
      maxToolCalls: 9,
    });
    await stage.store.operations.settle(run.ref, id, { state: 'UNKNOWN', generation: 1 });

    expect(await run.judge(await run.propose(3, [to('network')]))).toMatchObject({
      kind: 'candidateRejected',
      code: 'operation.open',
    });
  });

  test('by the run that is reopened counts too', async () => {
    const before = await afterReading();
    await before.step(2, [to('network')]);
    const done = await before.succeed(2, 1, [
      { object: 'ticket:T100', field: 'team', value: 'network', version: 'v2' },
    ]);
    const after = await afterReading(
      { conditions: isUnmet },
      { ref: newRef(before.ref.tenant), reopens: before.ref.run },
    );

    expect(callsOf(await after.step(2, [to('network'), to('security')]))).toMatchObject([
      { phase: 'ENDED', result: fingerprintOf(done.resultHash ?? '') },
      { phase: 'ASKING' },
    ]);
    expect(await after.operation(2, 1)).toMatchObject({ equivalent: done.id, output: done.output, generation: 0 });
  });

  test('and was denied is refused again without asking; it shows the block', async () => {
    const run = await afterReading();
    const denied = await run.step(2, [to('legal')]);
    const again = await run.step(3, [to('legal')]);

    expect(callsOf(denied)).toMatchObject([{ phase: 'ENDED', code: 'PERMISSION_DENIED' }]);
    expect(callsOf(again)).toMatchObject([{ phase: 'ENDED', code: 'PERMISSION_DENIED' }]);
    const [first, second] = await Promise.all([2, 3].map((step) => stage.store.decisions.list(run.ref, step)));
    expect(first?.at(-1)).toMatchObject({
      validator: 'policy',
      verdict: 'fail',
      code: 'policy.denied',
      evidence: { policies: ['never-legal'] },
    });
    expect(second?.at(-1)).toMatchObject({
      validator: 'equivalent',
      verdict: 'fail',
      code: 'operation.refused_before',
    });
    const [fact] = (await stage.store.facts.list(run.ref, { step: 3, alsoOf: [] })).filter(
      ({ object }) => object === 'policy:reassign_ticket',
    );
    expect(fact).toMatchObject({ field: 'denied', value: { policies: ['never-legal'] }, evidence: 'E2.1' });

    const claims = [
      {
        text: 'It is not permitted.',
        evidence: ['E2.1'],
        asserts: [{ object: 'policy:reassign_ticket', field: 'denied', value: fact?.value ?? null }],
      },
    ];
    const cannot = await run.judge(
      await run.propose(4, [['finish', { outcome: 'cannot', answer: 'Not permitted.', claims }]]),
    );
    expect(cannot).toMatchObject({ kind: 'blockConfirmed', code: 'permission' });
    expect(await run.json(cannot.kind === 'blockConfirmed' ? cannot.answer : undefined)).toEqual({
      schemaVersion: 1,
      outcome: 'cannot',
      answer: 'Not permitted.',
      claims,
    });
  });

  test('a tool that the principal never gets is a block, once it was tried', async () => {
    const agent = { conditions: isUnmet };
    const run = await stage.begin({ agent, row: { principal: { subject: 'eve', roles: [] } } });
    const cannot: Proposed = ['finish', { outcome: 'cannot', answer: 'Not permitted.', claims: [] }];

    expect(await run.judge(await run.propose(1, [cannot]))).toMatchObject({ code: 'finish.block_not_shown' });
    expect(await run.judge(await run.propose(2, [to('network')]))).toMatchObject({ code: 'candidate.unknown_tool' });
    expect(await run.judge(await run.propose(3, [cannot]))).toMatchObject({
      kind: 'blockConfirmed',
      code: 'permission',
    });
  });
});

describe('the end', () => {
  const finish = (evidence: string): Proposed => [
    'finish',
    {
      outcome: 'done',
      answer: 'Done.',
      claims: [
        {
          text: 'T100 is with network.',
          evidence: [evidence],
          asserts: [{ object: 'ticket:T100', field: 'team', value: 'network' }],
        },
      ],
    },
  ];

  test('comes when facts and evidence hold, not before', async () => {
    const run = await afterReading();

    expect(await run.judge(await run.propose(2, [finish('E1.1')]))).toMatchObject({ code: 'finish.assertion_wrong' });
    expect(
      await run.judge(
        await run.propose(3, { stopReason: 'end_turn', blocks: [{ type: 'text', text: 'I have reassigned it.' }] }),
      ),
    ).toMatchObject({ kind: 'candidateRejected', code: 'finish.condition_unmet' });
    await run.step(4, [to('network')]);
    await run.succeed(4, 1, [{ object: 'ticket:T100', field: 'team', value: 'network', version: 'v2' }]);
    expect(await run.judge(await run.propose(5, [finish('E9.1')]))).toMatchObject({ code: 'finish.evidence_unknown' });
    for (const madeUp of ['W99.0', 'W99.0@run_made-up-1', 'E1.1@run_made-up-1'])
      expect(await run.judge(await run.propose(5, [finish(madeUp)]))).toMatchObject({
        code: 'finish.evidence_unknown',
      });
    expect(await run.judge(await run.propose(6, [finish('E4.1')]))).toMatchObject({ kind: 'finishAccepted' });
  });
});

describe('the gate', () => {
  test('closes with a cancel', async () => {
    const run = await afterReading();
    const input = await run.propose(2, [to('network')]);
    await stage.store.runs.requestCancel(run.ref);

    expect(await run.judge(input)).toMatchObject({ kind: 'candidateRejected', code: 'gate.cancel_requested' });
    expect(await stage.store.operations.list(run.ref)).toHaveLength(1);
  });

  test('closes when the task was changed, and what the person said since is known', async () => {
    const run = await afterReading();
    const input = await run.propose(2, [['read_ticket', { ticket: 'T200' }]]);
    expect(await run.judge(input)).toMatchObject({ code: 'candidate.unknown_reference' });
    await stage.store.runs.changePlan(run.ref, { id: 'm1', kind: 'amend', body: { text: 'Take T200 instead.' } });

    expect(await run.judge(input)).toMatchObject({ kind: 'candidateRejected', code: 'gate.plan_changed' });
    const next = await run.propose(3, [['read_ticket', { ticket: 'T200' }]], 2);
    expect(callsOf(await run.judge(next))).toMatchObject([{ phase: 'DUE' }]);
  });
});

describe('a stored candidate', () => {
  const deps = (run: JudgedRun) => ({ store: stage.store, registry: run.registry, log: pino({ level: 'silent' }) });

  const replay = async (run: JudgedRun, step: number, input: Awaited<ReturnType<JudgedRun['propose']>>) => {
    const decisions = await stage.store.decisions.list(run.ref, step);
    const recorded = decisions.find(({ validator }) => validator === 'gate')?.evidence['lookUps'];
    const at = { tenant: run.ref.tenant, hash: parseArtifactHash(recorded) };
    const [{ context }, candidate, lookUps] = await Promise.all([
      loadJudgeContext(deps(run), input),
      readArtifact(stage.store, { tenant: run.ref.tenant, hash: input.candidate }, CANDIDATE),
      readArtifact(stage.store, at, LOOK_UPS),
    ]);
    return { decisions, context, candidate, lookUps };
  };

  test('is judged again from what was recorded, after the world has moved on', async () => {
    const run = await afterReading();
    const input = await run.propose(2, [to('network'), to('legal')]);
    await run.judge(input);
    await run.carry(2);
    await run.succeed(2, 1, [{ object: 'ticket:T100', field: 'team', value: 'network', version: 'v2' }]);
    await stage.store.runs.requestCancel(run.ref);
    const { decisions, context, candidate, lookUps } = await replay(run, 2, input);
    const again = judge(context, candidate, { lookUps });

    expect(again.decisions.map(({ ordinal, validator, verdict, code }) => [ordinal, validator, verdict, code])).toEqual(
      decisions.map(({ ordinal, validator, verdict, code }) => [ordinal, validator, verdict, code]),
    );
  });

  test('is judged otherwise by a stricter validator, which is seen', async () => {
    const run = await afterReading();
    const input = await run.propose(2, [to('network')]);
    await run.judge(input);
    const { decisions, context, candidate, lookUps } = await replay(run, 2, input);
    const strict = fail({ code: 'strict.no_network', error: 'INVALID_ARGUMENT', message: 'not network' });
    const permission = { ...VALIDATORS.permission, version: '2', judge: () => strict };
    const again = judge(context, candidate, { lookUps, validators: { ...VALIDATORS, permission } });

    const before = decisions.find(({ validator }) => validator === 'policy');
    expect(before).toMatchObject({ verdict: 'pass' });
    expect(again.decisions.find(({ validator }) => validator === 'policy')).toMatchObject({
      verdict: 'fail',
      code: 'strict.no_network',
    });
    expect(again.outcome).toMatchObject({ kind: 'rejected' });
    expect(await stage.store.decisions.list(run.ref, 2)).toEqual(decisions);
  });
});

test('what no run has is no candidate', async () => {
  const run = await stage.begin();
  const input = await run.propose(1, [READ]);

  await expect(run.judge({ ...input, candidate: hashFrom('nothing') })).rejects.toMatchObject({
    code: 'store.missing',
  });
});
