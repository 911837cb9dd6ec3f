/** The activity as a worker has it: a real database, the real SDK over a socket, the offline model server. */
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { pino } from 'pino';
import { parseArtifact } from '../../../activities/context/read-artifact';
import { CANDIDATE, type CandidateArtifact } from '../../../activities/model/candidate';
import { createModelActivities } from '../../../activities/model/create-model-activities';
import type { LiveText, OnText } from '../../../activities/model/live-text';
import type { ModelRequest } from '../../../activities/model/model-request';
import type { ModelRoute } from '../../../definition/agent';
import { createPostgresStore, migrate } from '../../../store/postgres';
import type { AttemptRow } from '../../../store/rows';
import type { Store } from '../../../store/store';
import { startModelServer, text, turn, type ModelServer, type ModelServerOptions } from '../../../testing/model-server';
import type { AttemptInput, AttemptOutcome, RegularActivities } from '../../../workflows/contract/activities';
import { parseRunId, parseTenantId, type ArtifactHash } from '../../../workflows/contract/ids';
import type { RunRef } from '../../../workflows/contract/records';
import { startTestDatabase, type TestDatabase } from '../../support/databases';
import { startCuttableProxy, type CuttableProxy } from './cuttable-proxy';

export const PRICES = {
  version: '2026-01',
  inputPerMillion: 3,
  outputPerMillion: 15,
  cacheReadPerMillion: 0.3,
  cacheWritePerMillion: 3.75,
};

export const ROUTE: ModelRoute = {
  provider: 'anthropic',
  model: 'claude-sonnet-5',
  maxOutputTokens: 1_000,
  maxContextBytes: 100_000,
  idleTimeoutMs: 2_000,
  prices: PRICES,
};

const TOOL = {
  name: 'read_ticket',
  input_schema: { type: 'object' as const, properties: { id: { type: 'string' } } },
};

export const REQUEST: ModelRequest = {
  model: ROUTE.model,
  system: 'Work on the ticket.',
  messages: [{ role: 'user', content: 'Read ticket T100.' }],
  tools: [TOOL],
  maxOutputTokens: ROUTE.maxOutputTokens,
  route: ROUTE,
  limits: { maxTokens: 1_000_000, maxCostMicros: 50_000_000, attemptTimeoutMs: 20_000 },
  estimateInputTokens: 400,
};

/** What differs from one attempt to the next. */
export interface Setting extends Partial<ModelServerOptions> {
  readonly request?: Partial<ModelRequest>;
  readonly storeGraceMs?: number;
  readonly onText?: OnText;
  /** Where no server listens. */
  readonly baseUrl?: string;
}

export interface Attempts {
  readonly server: ModelServer;
  readonly ref: RunRef;
  readonly context: ArtifactHash;
  readonly texts: LiveText[];
  readonly logs: Record<string, unknown>[];
  input(changes?: Partial<AttemptInput>): AttemptInput;
  /** The activity itself, for a worker. */
  readonly runHere: RegularActivities['runAttempt'];
  /** Runs the activity in an environment of its own, or in the given one. */
  run(changes?: Partial<AttemptInput>, environment?: MockActivityEnvironment): Promise<AttemptOutcome>;
  row(attempt?: number): Promise<AttemptRow>;
  candidate(hash: ArtifactHash | undefined): Promise<CandidateArtifact>;
}

export interface AttemptStage {
  /** Not through the proxy: for looking at what is stored, and for whoever works elsewhere. */
  readonly store: Store;
  readonly proxy: CuttableProxy;
  /** A new run and a new model server. */
  use<T>(setting: Setting, work: (attempts: Attempts) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** The worker's own warnings are what these tests provoke. */
const QUIET = new DefaultLogger('ERROR');

export const environment = (): MockActivityEnvironment =>
  new MockActivityEnvironment({ heartbeatTimeoutMs: 3_000 }, { logger: QUIET });

export async function setAttemptStage(): Promise<AttemptStage> {
  const database: TestDatabase = await startTestDatabase({
    migrate: async (url) => {
      await migrate(url);
    },
  });
  const proxy = await startCuttableProxy(database.url);
  const store = createPostgresStore({ url: database.url });
  const proxied = createPostgresStore({ url: proxy.url });
  let runs = 0;
  return {
    store,
    proxy,
    use: async (setting, work) => {
      const server = await startModelServer({ script: () => turn([text('Done.')]), ...setting });
      runs += 1;
      try {
        return await work(await makeAttempts({ store, proxied, server, number: runs, setting }));
      } finally {
        await server.close();
      }
    },
    close: async () => {
      await Promise.all([store.close(), proxied.close()]);
      await proxy.close();
      await database.drop();
    },
  };
}

interface Making {
  readonly store: Store;
  readonly proxied: Store;
  readonly server: ModelServer;
  readonly number: number;
  readonly setting: Setting;
}

async function makeAttempts({ store, proxied, server, number, setting }: Making): Promise<Attempts> {
  const ref = { tenant: parseTenantId('acme'), run: parseRunId(`run_attempts${String(number)}`) };
  const context = await openRun(store, ref);
  const texts: LiveText[] = [];
  const logs: Record<string, unknown>[] = [];
  const activities = createModelActivities(
    {
      store: proxied,
      model: { apiKey: 'sk-offline', baseUrl: setting.baseUrl ?? server.url },
      log: pino({}, { write: (line: string) => logs.push(parseLog(line)) }),
      storeGraceMs: setting.storeGraceMs ?? 20_000,
    },
    {
      project: () => Promise.resolve({ ...REQUEST, ...setting.request }),
      onText: setting.onText ?? ((live) => texts.push(live)),
    },
  );
  const input = (changes: Partial<AttemptInput> = {}): AttemptInput => ({
    ref,
    events: [],
    step: 1,
    attempt: 1,
    context,
    truncations: 0,
    mode: 'ask',
    ...changes,
  });
  return {
    server,
    ref,
    context,
    texts,
    logs,
    input,
    runHere: activities.runAttempt,
    run: (changes, given = environment()) => given.run(activities.runAttempt, input(changes)),
    row: async (attempt = 1) => {
      const row = (await store.attempts.list(ref)).find((each) => each.step === 1 && each.attempt === attempt);
      if (row === undefined) throw new Error(`attempt 1.${String(attempt)} has no row`);
      return row;
    },
    candidate: async (hash) => {
      if (hash === undefined) throw new Error('the row names no candidate');
      return parseArtifact(CANDIDATE, hash, await store.artifacts.getJson(ref.tenant, hash));
    },
  };
}

async function openRun(store: Store, ref: RunRef): Promise<ArtifactHash> {
  const principal = { subject: 'alice', roles: [] };
  const task = { goal: 'Read ticket T100.', data: {} };
  await store.runs.start({ ref, agent: 'tickets', principal, task, bodyHash: 'b'.repeat(64) });
  const definition = await store.artifacts.putJson(ref.tenant, { of: ref.run });
  await store.runs.open(ref, { definition, deadlineMs: 600_000 });
  return definition;
}

const parseLog = (line: string): Record<string, unknown> => JSON.parse(line) as Record<string, unknown>;
