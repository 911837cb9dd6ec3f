/**
 * TOOL_RUNNING, WAITING_TOOL, waits and FINALIZING as a worker has them: a real database behind a way that can be cut, the
 * ticket desk as a process of its own, compiled agents, and runs whose candidates were judged by hand.
 */
import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { Client } from 'pg';
import { pino } from 'pino';
import { createFinalizeActivities } from '../../../activities/finalize/create-finalize-activities';
import { createOperateActivities } from '../../../activities/operate/create-operate-activities';
import { sha256Of, toStorableJson } from '../../../activities/operate/storable-json';
import { createWaitActivities } from '../../../activities/waits/create-wait-activities';
import type { ActivityDeps } from '../../../activities/deps';
import type { AgentDefinition } from '../../../definition/agent';
import { compileAgents } from '../../../definition/compile-agent';
import { createTicketsAgent } from '../../../examples/tickets/agent';
import { DeskControl } from '../../../examples/tickets/desk/desk-client';
import { startDeskProcess } from '../../../examples/tickets/desk/desk-process';
import type { WriteContract, WriteTimes } from '../../../examples/tickets/tools/contract';
import { createPostgresStore, migrate } from '../../../store/postgres';
import type { FactRow, NewOperation, NewRun, OperationRow } from '../../../store/rows';
import type { Store } from '../../../store/store';
import type {
  Activities,
  DispatchOutcome,
  MachineEvent,
  ReadOutcome,
  WaitReading,
} from '../../../workflows/contract/activities';
import { operationIdOf, parseWaitId, type OperationId, type WaitId } from '../../../workflows/contract/ids';
import type { JsonObject } from '../../../workflows/contract/json';
import type { RunRef } from '../../../workflows/contract/records';
import type { OperationOutcome } from '../../../workflows/machine/events';
import type { WaitKind } from '../../../workflows/machine/states';
import { startCuttableProxy, type CuttableProxy } from '../../integration/model-attempts/cuttable-proxy';
import { startTestDatabase } from '../databases';
import { event, judgedEvent, newRef, newRun, newWait, stepEvent } from '../store-contract/fixtures';

const ROOT = join(__dirname, '..', '..', '..');
const TS = ['-r', join(ROOT, 'test/support/ts-register.cjs')] as const;

/** Short, so that a test can wait them out, and long enough for a busy machine. */
export const TIMES: WriteTimes = {
  timeoutMs: 1_000,
  settleWindowMs: 200,
  keyRetentionMs: 3_600_000,
  pollEveryMs: 100,
  pollLimitMs: 4_000,
  maxLookUps: 8,
};
export const QUIET_MS = TIMES.timeoutMs + TIMES.settleWindowMs;

type Worker = Pick<
  Activities,
  | 'readShort'
  | 'readLong'
  | 'dispatch'
  | 'pursue'
  | 'openWait'
  | 'readWait'
  | 'judgeSignalled'
  | 'adoptPlan'
  | 'stopOperations'
  | 'checkEnd'
  | 'commit'
>;

export interface Proposal extends Partial<Omit<NewOperation, 'arguments' | 'argumentHash'>> {
  readonly tool: string;
  readonly args: JsonObject;
  readonly step?: number;
}

/** One call of a candidate, driven as the workflow would drive it. */
export interface DrivenCall {
  readonly id: OperationId;
  readonly ordinal: number;
  row(): Promise<OperationRow>;
  dispatch(isApproved?: boolean): Promise<DispatchOutcome>;
  pursue(action?: 'lookUp' | 'poll'): Promise<OperationOutcome>;
  /** Dispatch, timers, look-ups and second sends, until it has its end or needs a person. */
  drive(options?: DriveOptions): Promise<Driven>;
  /** The same, from an outcome on. */
  goOn(from: OperationOutcome, options?: DriveOptions): Promise<Driven>;
  readShort(): Promise<ReadOutcome>;
  readLong(environment?: MockActivityEnvironment): Promise<ReadOutcome>;
}

export interface DriveOptions {
  /** Look-ups are made at once, whatever the back-off says; sends keep their time. */
  readonly isImpatient?: boolean;
  /** After each outcome. */
  readonly onOutcome?: (outcome: OperationOutcome) => Promise<void>;
}

export interface Driven {
  readonly outcome: OperationOutcome;
  /** Every outcome on the way: `UNKNOWN lookUp`, `SUCCEEDED`. */
  readonly trail: readonly string[];
}

export interface OperateRun {
  readonly ref: RunRef;
  readonly worker: Worker;
  propose(...proposals: readonly Proposal[]): Promise<readonly DrivenCall[]>;
  proposeOne(proposal: Proposal): Promise<DrivenCall>;
  facts(): Promise<readonly FactRow[]>;
  /** Opens a wait of the given kind, about the call where one is given. */
  openWait(
    kind: WaitKind,
    about?: { readonly call?: DrivenCall; readonly plan?: OperationRow['arguments']; readonly reason?: string },
  ): Promise<OpenedWait>;
  /** By its place: for a worker that did not propose it. */
  dispatch(input: {
    readonly step: number;
    readonly ordinal: number;
    readonly isApproved: boolean;
  }): Promise<DispatchOutcome>;
  readShort(input: { readonly step: number; readonly ordinal: number }): Promise<ReadOutcome>;
  /** The same run as a worker with other deps or agents sees it. */
  on(changes: Partial<ActivityDeps>, agents?: readonly AgentDefinition[]): OperateRun;
}

export interface OpenedWait {
  readonly id: WaitId;
  readonly reading: WaitReading;
  /** As an accepted response leaves the row. */
  answer(response: JsonObject): Promise<WaitReading>;
  /** As if its time were over. */
  expire(): Promise<WaitReading>;
  read(): Promise<WaitReading>;
}

export interface OperateStage {
  readonly store: Store;
  readonly proxy: CuttableProxy;
  readonly desk: DeskControl;
  readonly deskUrl: string;
  begin(options?: BeginOptions): Promise<OperateRun>;
  /** Sends to the desk's write routes. */
  sends(): Promise<readonly { readonly path: string; readonly key: string | null; readonly at: number }[]>;
  reset(): Promise<void>;
  close(): Promise<void>;
}

export interface BeginOptions {
  readonly contract?: WriteContract;
  readonly times?: Partial<WriteTimes>;
  readonly agents?: readonly AgentDefinition[];
  readonly row?: Partial<NewRun>;
}

export const ticketsAgent = (
  deskUrl: string,
  { contract = 'key and look-up', times = {} }: BeginOptions = {},
  changes: Partial<AgentDefinition> = {},
): AgentDefinition => ({
  ...createTicketsAgent({ tools: { deskUrl, contract, times: { ...TIMES, ...times } } }),
  ...changes,
});

export const openOperateStage = async (): Promise<OperateStage> => {
  const database = await startTestDatabase({
    migrate: async (url) => {
      await migrate(url);
    },
  });
  const proxy = await startCuttableProxy(database.url);
  const store = createPostgresStore({ url: database.url });
  const proxied = createPostgresStore({ url: proxy.url });
  const process = await startDeskProcess({ mainPath: join(ROOT, 'examples/tickets/desk/main.ts'), nodeArguments: TS });
  const desk = new DeskControl(process.url);
  const stage: OperateStage = {
    store,
    proxy,
    desk,
    deskUrl: process.url,
    begin: async (options = {}) => {
      const agents = options.agents ?? [ticketsAgent(process.url, options)];
      const registry = compileAgents(agents);
      const ref = newRef();
      const deps: ActivityDeps = {
        store: proxied,
        registry,
        model: { apiKey: 'unused' },
        log: pino({ level: 'silent' }),
        storeGraceMs: 20_000,
      };
      await store.runs.start(newRun(ref, options.row));
      const definition = await store.artifacts.putJson(ref.tenant, registry.find('tickets')?.snapshot ?? {});
      await store.runs.open(ref, { definition, deadlineMs: 600_000 });
      return createRun({ store, ref, deps, databaseUrl: database.url, seq: { last: 0 } });
    },
    sends: async () =>
      (await desk.requests())
        .filter(({ method, path }) => method === 'POST' && path.startsWith('/tickets/'))
        .map(({ path, key, at }) => ({ path, key, at: Date.parse(at) })),
    reset: () => desk.reset(),
    close: async () => {
      await Promise.all([store.close(), proxied.close(), process.stop('SIGKILL')]);
      await proxy.close();
      await database.drop();
    },
  };
  return stage;
};

interface RunParts {
  readonly store: Store;
  readonly ref: RunRef;
  readonly deps: ActivityDeps;
  readonly databaseUrl: string;
  readonly seq: { last: number };
}

/** Beats are listened for, as a worker's would be. */
export const regular = (): MockActivityEnvironment => new MockActivityEnvironment({ heartbeatTimeoutMs: 3_000 });

const createRun = (parts: RunParts): OperateRun => {
  const { store, ref, deps, seq } = parts;
  const worker = createWorker(deps);
  const next = (): number => (seq.last += 1);
  const propose: OperateRun['propose'] = async (...proposals) => {
    const step = proposals[0]?.step ?? 1;
    const rows = await Promise.all(
      proposals.map((proposal, index) => toOperation(parts, proposal, { step, ordinal: index + 1 })),
    );
    await store.operations.create(rows);
    await store.journal.carry({ ref, events: [stepEvent(next(), step), judgedEvent(next(), step)] });
    return rows.map(({ id, ordinal }) => createCall(parts, worker, { id, step, ordinal }));
  };
  return {
    ref,
    worker,
    propose,
    proposeOne: async (proposal) => {
      const [call] = await propose(proposal);
      if (call === undefined) throw new Error('one was proposed');
      return call;
    },
    facts: () => store.facts.list(ref, { step: 1_000, alsoOf: [] }),
    openWait: async (kind, about = {}) => {
      const events: readonly MachineEvent[] = [
        event(next(), { to: 'WAITING_USER', rule: 'test', event: 'callsJudged' }),
      ];
      const { call, plan, reason } = about;
      const id = parseWaitId(`wait_${ref.run.slice('run_'.length)}_${String(seq.last)}_${String(call?.ordinal ?? 0)}`);
      const step = call === undefined ? 1 : (await call.row()).step;
      const reading: WaitReading = await regular().run(worker.openWait, {
        ref,
        events,
        wait: id,
        waitKind: kind,
        step,
        seq: seq.last,
        planVersion: (await store.runs.get(ref))?.planVersion ?? 1,
        ...(call === undefined ? {} : { ordinal: call.ordinal }),
        ...(plan === undefined ? {} : { plan }),
        ...(reason === undefined ? {} : { reason }),
      });
      return createWait(parts, worker, { id, reading });
    },
    dispatch: async (input) => {
      if (input.isApproved) await approve(parts, operationIdOf(ref.run, input.step, input.ordinal));
      return regular().run(worker.dispatch, { ref, events: [], ...input });
    },
    readShort: (input) => new MockActivityEnvironment().run(worker.readShort, { ref, ...input }),
    on: (changes, agents) =>
      createRun({
        ...parts,
        deps: { ...deps, ...changes, ...(agents === undefined ? {} : { registry: compileAgents(agents) }) },
      }),
  };
};

const createWorker = (deps: ActivityDeps): Worker => ({
  ...createOperateActivities(deps),
  ...createWaitActivities(deps),
  ...createFinalizeActivities(deps),
});

const toOperation = async (
  { store, ref, deps }: RunParts,
  { tool, args, ...changes }: Proposal,
  { step, ordinal }: { readonly step: number; readonly ordinal: number },
): Promise<NewOperation> => {
  const known = deps.registry.find('tickets')?.tools.get(tool);
  const canonical = toStorableJson(known?.inputSchema.parse(args) ?? args);
  const target = known?.tool.effect === 'write' ? known.tool.target?.(canonical)?.object : undefined;
  return {
    id: operationIdOf(ref.run, step, ordinal),
    ref,
    step,
    ordinal,
    call: `toolu_${String(step)}_${String(ordinal)}`,
    tool,
    effect: known?.tool.effect ?? 'read',
    arguments: await store.artifacts.putJson(ref.tenant, parseObject(canonical)),
    argumentHash: sha256Of(canonical),
    planVersion: 1,
    ...(target === undefined ? {} : { target }),
    ...changes,
  };
};

const parseObject = (value: unknown): object => value as object;

interface Placed {
  readonly id: OperationId;
  readonly step: number;
  readonly ordinal: number;
}

const MAX_TURNS = 60;

const createCall = ({ store, ref }: RunParts, worker: Worker, { id, step, ordinal }: Placed): DrivenCall => {
  const input = { ref, events: [], step, ordinal };
  const dispatch: DrivenCall['dispatch'] = async (isApproved = false) => {
    if (isApproved) await approve({ store, ref }, id);
    return regular().run(worker.dispatch, { ...input, isApproved });
  };
  const pursue: DrivenCall['pursue'] = (action = 'lookUp') => regular().run(worker.pursue, { ...input, action });
  const send = async (): Promise<OperationOutcome> => {
    const sent = await dispatch();
    if (sent.kind !== 'outcome') throw new Error(`the dispatch ended as ${sent.kind}`);
    return sent.outcome;
  };
  const goOn: DrivenCall['goOn'] = async (from, { isImpatient = false, onOutcome } = {}) => {
    const trail: string[] = [];
    let outcome = from;
    for (let turn = 0; turn < MAX_TURNS; turn += 1) {
      trail.push(describeOutcome(outcome));
      await onOutcome?.(outcome);
      if (outcome.kind !== 'pending') return { outcome, trail };
      const { action, afterMs } = outcome.next;
      if (action === 'resend' || !isImpatient) await delay(afterMs);
      outcome = action === 'resend' ? await send() : await pursue(action === 'poll' ? 'poll' : 'lookUp');
    }
    throw new Error(`no end after ${String(MAX_TURNS)} turns: ${trail.join(', ')}`);
  };
  return {
    id,
    ordinal,
    row: async () => {
      const row = await store.operations.get(ref, id);
      if (row === undefined) throw new Error(`${id} has no row`);
      return row;
    },
    dispatch,
    pursue,
    drive: async (options) => goOn(await send(), options),
    goOn,
    readShort: () => new MockActivityEnvironment().run(worker.readShort, { ref, step, ordinal }),
    readLong: (environment = regular()) => environment.run(worker.readLong, input),
  };
};

/** As a person's response leaves it. Where nothing is asked any more, nothing is approved. */
const approve = async ({ store, ref }: Pick<RunParts, 'store' | 'ref'>, id: OperationId): Promise<void> => {
  const row = await store.operations.get(ref, id);
  if (row === undefined) return;
  const unique = randomInt(1_000_000, 2_000_000_000);
  const wait = newWait(ref, unique, { operation: id });
  const opened = await store.waits.open({ ref, events: [] }, wait);
  if (opened.row.state !== 'OPEN') return;
  const response = { id: `r${String(unique)}`, wait: wait.id, principal: { subject: 'ada', roles: [] }, body: {} };
  await store.waits.respond(ref, response, () => ({
    kind: 'accepted',
    response: { decision: 'approve', argumentHash: row.argumentHash },
    facts: [],
    evidence: {},
  }));
};

const describeOutcome = (outcome: OperationOutcome): string => {
  switch (outcome.kind) {
    case 'settled':
      return [outcome.state, ...(outcome.code === undefined ? [] : [outcome.code])].join(' ');
    case 'pending':
      return `${outcome.state} ${outcome.next.action}`;
    default:
      return outcome.kind;
  }
};

const createWait = (
  { ref, databaseUrl }: RunParts,
  worker: Worker,
  { id, reading }: Pick<OpenedWait, 'id' | 'reading'>,
): OpenedWait => {
  const read = (): Promise<WaitReading> => regular().run(worker.readWait, { ref, events: [], wait: id });
  const change = async (set: string, values: readonly unknown[]): Promise<WaitReading> => {
    const client = new Client({ connectionString: databaseUrl });
    await client.connect();
    try {
      await client.query(`update waits set ${set} where tenant = $1 and id = $2`, [ref.tenant, id, ...values]);
    } finally {
      await client.end();
    }
    return read();
  };
  return {
    id,
    reading,
    read,
    answer: (response) => change("state = 'CONSUMED', response = $3", [JSON.stringify(response)]),
    expire: () => change("expires_at = clock_timestamp() - interval '1 second'", []),
  };
};
