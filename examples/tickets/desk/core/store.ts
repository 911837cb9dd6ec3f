/**
 * The desk's data in memory, in step with its log.
 *
 * Invariants:
 * 1. Nothing changes but through `commit` and `reset`; both write the log first.
 * 2. `commit` is synchronous: no other request sees half of it or comes between a check and its commit.
 */
import type { DeskLog, LogRecord } from './log';
import {
  DEFAULT_SETTINGS,
  effectIdSchema,
  jobIdSchema,
  type Effect,
  type EffectId,
  type Job,
  type JobId,
  type RecordedReply,
  type Rule,
  type Settings,
  type Team,
  type Ticket,
} from './model';
import { FIRST_JOB_NUMBER, seedRules, seedTeams, seedTickets } from './seed';

/** What happens together: each part replaces what was there under its id; an effect is added. */
export interface Change {
  readonly ticket?: Ticket;
  readonly rule?: Rule;
  readonly effect?: Effect;
  readonly job?: Job;
  readonly recorded?: RecordedReply;
  readonly settings?: Settings;
}

interface Data {
  readonly tickets: Map<string, Ticket>;
  readonly rules: Map<string, Rule>;
  readonly effects: Effect[];
  readonly jobs: Map<string, Job>;
  readonly recorded: Map<string, RecordedReply>;
  settings: Settings;
}

export class DeskStore {
  readonly #log: DeskLog;
  #data: Data = seedData();

  constructor(log: DeskLog) {
    this.#log = log;
    for (const record of log.records) this.#replay(record);
  }

  get settings(): Settings {
    return this.#data.settings;
  }

  get teams(): readonly Team[] {
    return seedTeams;
  }

  get effects(): readonly Effect[] {
    return this.#data.effects;
  }

  tickets(): readonly Ticket[] {
    return [...this.#data.tickets.values()];
  }

  ticket(id: string): Ticket | undefined {
    return this.#data.tickets.get(id);
  }

  rules(): readonly Rule[] {
    return [...this.#data.rules.values()];
  }

  rule(id: string): Rule | undefined {
    return this.#data.rules.get(id);
  }

  jobs(): readonly Job[] {
    return [...this.#data.jobs.values()];
  }

  job(id: string): Job | undefined {
    return this.#data.jobs.get(id);
  }

  recordedReply(key: string): RecordedReply | undefined {
    return this.#data.recorded.get(key);
  }

  nextEffectId(): EffectId {
    return effectIdSchema.parse(`F${String(this.#data.effects.length + 1)}`);
  }

  nextJobId(): JobId {
    return jobIdSchema.parse(`J${String(this.#data.jobs.size + FIRST_JOB_NUMBER)}`);
  }

  commit(change: Change): void {
    this.#log.append({ schemaVersion: 1, type: 'change', ...change });
    this.#apply(change);
  }

  reset(): void {
    this.#log.append({ schemaVersion: 1, type: 'reset' });
    this.#data = seedData();
  }

  close(): void {
    this.#log.close();
  }

  #replay(record: LogRecord): void {
    switch (record.type) {
      case 'change':
        this.#apply(record);
        return;
      case 'reset':
        this.#data = seedData();
        return;
    }
  }

  #apply(change: { readonly [Part in keyof Change]?: Change[Part] | undefined }): void {
    const data = this.#data;
    if (change.ticket) data.tickets.set(change.ticket.id, change.ticket);
    if (change.rule) data.rules.set(change.rule.id, change.rule);
    if (change.effect) data.effects.push(change.effect);
    if (change.job) data.jobs.set(change.job.id, change.job);
    if (change.recorded) data.recorded.set(change.recorded.key, change.recorded);
    if (change.settings) data.settings = change.settings;
  }
}

function seedData(): Data {
  return {
    tickets: new Map(seedTickets.map((ticket) => [ticket.id, ticket])),
    rules: new Map(seedRules.map((rule) => [rule.id, rule])),
    effects: [],
    jobs: new Map(),
    recorded: new Map(),
    settings: DEFAULT_SETTINGS,
  };
}
