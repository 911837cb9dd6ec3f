/** VALIDATING as a worker has it: a real database, a run with a real context, and candidates put there by hand. */
import { pino } from 'pino';
import { createContextActivities } from '../../../activities/context/create-context-activities';
import type { CandidateArtifact, CandidateCall } from '../../../activities/model/candidate';
import { createValidateActivities } from '../../../activities/validate/create-validate-activities';
import type { AgentDefinition } from '../../../definition/agent';
import { compileAgents } from '../../../definition/compile-agent';
import type { AgentRegistry } from '../../../definition/registry';
import { createPostgresStore, migrate } from '../../../store/postgres';
import type { NewRun, OperationRow } from '../../../store/rows';
import type { Store } from '../../../store/store';
import type { JudgeInput, Verdict } from '../../../workflows/contract/activities';
import { evidenceIdOf, operationIdOf, type ArtifactHash } from '../../../workflows/contract/ids';
import type { Json } from '../../../workflows/contract/json';
import type { Fact, RunRef } from '../../../workflows/contract/records';
import type { JudgedCall } from '../../../workflows/machine/events';
import { startTestDatabase } from '../../support/databases';
import { GRANT, hashFrom, judgedEvent, newRef, newRun, stepEvent } from '../../support/store-contract/fixtures';
import { candidateOf } from '../../unit/activities/validate/fixtures';
import { agentWith } from '../../unit/definition/tools';

export type Proposed = readonly [name: string, input: Json];

export interface JudgedRun {
  readonly ref: RunRef;
  readonly registry: AgentRegistry;
  /** Freezes the step's context and stores a candidate for it. */
  propose(
    step: number,
    candidate: Partial<CandidateArtifact> | readonly Proposed[],
    planVersion?: number,
  ): Promise<JudgeInput>;
  judge(input: JudgeInput): Promise<Verdict>;
  /** Both at once, and the step's events with them. */
  step(step: number, candidate: Partial<CandidateArtifact> | readonly Proposed[]): Promise<Verdict>;
  carry(step: number): Promise<void>;
  operation(step: number, ordinal: number): Promise<OperationRow>;
  /** What a worker records of a read, or of a write that it has sent. */
  succeed(step: number, ordinal: number, facts: readonly Omit<Fact, 'evidence'>[]): Promise<OperationRow>;
  json(hash: ArtifactHash | undefined): Promise<unknown>;
}

export interface JudgeStage {
  readonly store: Store;
  begin(changes?: { readonly agent?: Partial<AgentDefinition>; readonly row?: Partial<NewRun> }): Promise<JudgedRun>;
  close(): Promise<void>;
}

export const openJudgeStage = async (): Promise<JudgeStage> => {
  const database = await startTestDatabase({
    migrate: async (url) => {
      await migrate(url);
    },
  });
  const store = createPostgresStore({ url: database.url });
  return {
    store,
    begin: async ({ agent, row = {} } = {}) => {
      const ref = row.ref ?? newRef();
      const principal = { subject: 'ada', roles: ['agent'] };
      await store.runs.start(newRun(ref, { principal, ...row }));
      return beginRun(store, ref, compileAgents([agentWith(agent)]));
    },
    close: async () => {
      await store.close();
      await database.drop();
    },
  };
};

const beginRun = async (store: Store, ref: RunRef, registry: AgentRegistry): Promise<JudgedRun> => {
  const deps = { store, registry, log: pino({ level: 'silent' }) };
  const context = createContextActivities(deps);
  const { judgeCandidate } = createValidateActivities(deps);
  await context.openRun({ schemaVersion: 1, ref, agent: 'tickets' });
  let seq = 0;
  const propose: JudgedRun['propose'] = async (step, given, planVersion = 1) => {
    const frozen = await context.freezeContext({
      ref,
      planVersion,
      freeze: { step, input: { waits: [], ended: [], shrinks: 0 } },
    });
    const changes = isList(given) ? { calls: given.map(toCall) } : given;
    const candidate = candidateOf({ ...changes, run: ref.run, step, context: frozen.context });
    const stored = await store.artifacts.putJson(ref.tenant, candidate);
    return { ref, step, attempt: 1, context: frozen.context, candidate: stored, planVersion };
  };
  const carry = async (step: number): Promise<void> => {
    await store.journal.carry({ ref, events: [stepEvent(seq + 1, step), judgedEvent(seq + 2, step)] });
    seq += 2;
  };
  const operation: JudgedRun['operation'] = async (step, ordinal) => {
    const row = await store.operations.get(ref, operationIdOf(ref.run, step, ordinal));
    if (row === undefined) throw new Error(`there is no operation ${String(step)}.${String(ordinal)}`);
    return row;
  };
  return {
    ref,
    registry,
    propose,
    judge: judgeCandidate,
    step: async (step, candidate) => {
      const verdict = await judgeCandidate(await propose(step, candidate));
      await carry(step);
      return verdict;
    },
    carry,
    operation,
    succeed: async (step, ordinal, facts) => {
      const { id, effect } = await operation(step, ordinal);
      const evidence = evidenceIdOf(step, ordinal);
      const settlement = {
        state: 'SUCCEEDED',
        output: await store.artifacts.putJson(ref.tenant, { step, ordinal }),
        resultHash: hashFrom(`result ${String(step)}.${String(ordinal)}`),
        evidence,
        facts: facts.map((fact) => ({ ...fact, evidence })),
      } as const;
      if (effect === 'read') return store.operations.recordRead(ref, id, settlement);
      const { kind } = await store.operations.dispatch(ref, id, GRANT);
      if (kind !== 'won') throw new Error(`the dispatch was ${kind}`);
      return (await store.operations.settle(ref, id, { ...settlement, generation: 1 })).row;
    },
    json: (hash) => store.artifacts.getJson(ref.tenant, hash ?? hashFrom('nothing')),
  };
};

const isList = (given: Partial<CandidateArtifact> | readonly Proposed[]): given is readonly Proposed[] =>
  Array.isArray(given);

const toCall = ([name, input]: Proposed, index: number): CandidateCall => ({
  ordinal: index + 1,
  id: `toolu_${String(index + 1)}`,
  name,
  input,
});

export const callsOf = (verdict: Verdict): readonly JudgedCall[] => {
  if (verdict.kind !== 'callsJudged') throw new Error(`expected judged calls, got ${JSON.stringify(verdict)}`);
  return verdict.calls;
};
