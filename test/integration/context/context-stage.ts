/** READY as a worker has it: a real database, compiled agents, and a run that is moved on by hand. */
import type Anthropic from '@anthropic-ai/sdk';
import { pino } from 'pino';
import { z } from 'zod';
import { createContextActivities, type ContextActivities } from '../../../activities/context/create-context-activities';
import { MANIFEST } from '../../../activities/context/artifact-shapes';
import { readArtifact } from '../../../activities/context/read-artifact';
import type { CandidateArtifact } from '../../../activities/model/candidate';
import type { AgentDefinition, CompletionView } from '../../../definition/agent';
import { compileAgents } from '../../../definition/compile-agent';
import { defineTool } from '../../../definition/tool';
import { createPostgresStore, migrate } from '../../../store/postgres';
import type { NewOperation, NewRun, OperationRow, Settlement } from '../../../store/rows';
import type { Store } from '../../../store/store';
import type { FrozenContext } from '../../../workflows/contract/activities';
import { evidenceIdOf, type ArtifactHash } from '../../../workflows/contract/ids';
import type { Json, JsonObject } from '../../../workflows/contract/json';
import type { Fact, Manifest, RunRef } from '../../../workflows/contract/records';
import type { StepInput } from '../../../workflows/machine/effects';
import { startTestDatabase } from '../../support/databases';
import { hashFrom, judgedEvent, newOperation, newRef, newRun, stepEvent } from '../../support/store-contract/fixtures';

const readTicket = defineTool({
  name: 'get_ticket',
  description: 'Reads a ticket.',
  inputSchema: z.object({ ticket: z.string() }),
  outputSchema: z.json(),
  effect: 'read',
  risk: 'low',
  execute: () => Promise.resolve({ kind: 'done', output: null }),
});

export const AGENT: AgentDefinition = {
  name: 'tickets',
  version: '1',
  instructions: 'Reassign the ticket by the on-call rules.',
  tools: [readTicket],
  policy: '@id("all") permit (principal, action, resource);',
  model: {
    provider: 'anthropic',
    model: 'claude-sonnet-5',
    maxOutputTokens: 1_000,
    maxContextBytes: 60_000,
    idleTimeoutMs: 2_000,
    prices: {
      version: '1',
      inputPerMillion: 3,
      outputPerMillion: 15,
      cacheReadPerMillion: 0.3,
      cacheWritePerMillion: 3.75,
    },
  },
  budgets: { maxSteps: 2_000, maxTokens: 1_000_000 },
  conditions: [
    {
      name: 'team-known',
      check: ({ facts }: CompletionView) =>
        facts.find('ticket:T100', 'team') === undefined
          ? { kind: 'gap', gap: { kind: 'fact', lacks: 'the team', needs: ['ticket:T100.team'] } }
          : { kind: 'met' },
    },
  ],
};

export interface Run {
  readonly ref: RunRef;
  /** Warm: the worker that has seen every step. */
  readonly worker: ContextActivities;
  freeze(
    step: number,
    parent: ArtifactHash | undefined,
    input?: Partial<StepInput>,
    planVersion?: number,
  ): Promise<FrozenContext>;
  manifest(context: ArtifactHash): Promise<Manifest>;
  propose(
    step: number,
    context: ArtifactHash,
    blocks: readonly Anthropic.ContentBlockParam[],
    stopReason?: string,
  ): Promise<ArtifactHash>;
  /** A call that was judged; `end` is what is recorded of it, where anything is. */
  call(step: number, ordinal: number, operation: Partial<NewOperation>, end?: Recorded): Promise<OperationRow>;
  /** Brings what the workflow would: the step, and that its calls were judged. */
  carry(step: number): Promise<void>;
}

export interface Recorded extends Omit<Settlement, 'state' | 'facts'> {
  readonly state?: Settlement['state'];
  readonly content?: Json;
  readonly facts?: readonly Omit<Fact, 'evidence'>[];
}

export interface ContextStage {
  readonly store: Store;
  /** Another worker, that has seen nothing. */
  worker(agents?: readonly AgentDefinition[]): ContextActivities;
  begin(changes?: Partial<NewRun>, agents?: readonly AgentDefinition[]): Promise<Run>;
  close(): Promise<void>;
}

const LOG = pino({ level: 'silent' });

export const openContextStage = async (): Promise<ContextStage> => {
  const database = await startTestDatabase({
    migrate: async (url) => {
      await migrate(url);
    },
  });
  const store = createPostgresStore({ url: database.url });
  const worker: ContextStage['worker'] = (agents = [AGENT]) =>
    createContextActivities({ store, registry: compileAgents(agents), log: LOG });
  return {
    store,
    worker,
    begin: async (changes = {}, agents = [AGENT]) => {
      const ref = changes.ref ?? newRef();
      await store.runs.start(newRun(ref, changes));
      const opener = worker(agents);
      await opener.openRun({ schemaVersion: 1, ref, agent: 'tickets' });
      return createRun(store, ref, opener);
    },
    close: async () => {
      await store.close();
      await database.drop();
    },
  };
};

const usage = {
  inputTokens: 1,
  outputTokens: 1,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  costMicros: 0,
  isEstimate: false,
};

const createRun = (store: Store, ref: RunRef, worker: ContextActivities): Run => {
  let seq = 0;
  return {
    ref,
    worker,
    freeze: (step, parent, input = {}, planVersion = 1) =>
      worker.freezeContext({
        ref,
        planVersion,
        freeze: {
          step,
          ...(parent === undefined ? {} : { parent }),
          input: { waits: [], ended: [], shrinks: 0, ...input },
        },
      }),
    manifest: (hash) => readArtifact(store, { tenant: ref.tenant, hash }, MANIFEST),
    propose: (step, context, blocks, stopReason = 'tool_use') => {
      const candidate: CandidateArtifact = {
        schemaVersion: 1,
        run: ref.run,
        step,
        attempt: 1,
        context,
        stopReason,
        isComplete: true,
        blocks,
        calls: [],
        usage,
        model: AGENT.model.model,
      };
      return store.artifacts.putJson(ref.tenant, candidate);
    },
    call: async (step, ordinal, operation, end) => {
      const made = newOperation(ref, step, { ordinal, tool: 'get_ticket', effect: 'read', ...operation });
      const [created] = await store.operations.create([made]);
      if (created === undefined) throw new Error('the operation was not created');
      if (end === undefined) return created;
      return record(store, created, end);
    },
    carry: async (step) => {
      const events = [stepEvent(seq + 1, step), judgedEvent(seq + 2, step)];
      seq += 2;
      await store.journal.carry({ ref, events });
    },
  };
};

const record = async (
  store: Store,
  { ref, id, step, ordinal }: OperationRow,
  recorded: Recorded,
): Promise<OperationRow> => {
  const { content, facts, state = 'SUCCEEDED', ...settlement } = recorded;
  const evidence = evidenceIdOf(step, ordinal);
  const text = content === undefined ? undefined : JSON.stringify(content);
  return store.operations.recordRead(ref, id, {
    state,
    evidence,
    ...(text === undefined
      ? {}
      : {
          output: await store.artifacts.put(ref.tenant, { bytes: Buffer.from(text), mediaType: 'application/json' }),
          resultHash: hashFrom(text),
        }),
    ...settlement,
    ...(facts === undefined ? {} : { facts: facts.map((fact) => ({ ...fact, evidence })) }),
  });
};

export const use = (
  id: string,
  input: JsonObject = { ticket: 'T100' },
  name = 'get_ticket',
): Anthropic.ToolUseBlockParam => ({
  type: 'tool_use',
  id,
  name,
  input: { ...input },
});
