/** A scenario as data: what is asked, what goes wrong, and what has to come of it. Tests and `--scenario` share it. */
import type { JsonObject } from '../../../index';
import type { FaultRuleInput as ModelFault } from '../../../testing';
import type { FaultRuleInput as DeskFault } from '../desk/core/faults';
import type { Effect, Settings } from '../desk/core/model';

export interface Scenario {
  /** For `--scenario NAME`. */
  readonly name: string;
  /** The guarantee that it shows, by its number in the list of scenarios. */
  readonly id: string;
  /** One line. */
  readonly title: string;
  readonly agent: string;
  readonly goal: string;
  readonly data: JsonObject;
  /** Narrower than the agent's. */
  readonly limits?: Readonly<Record<string, number>>;
  /** For `POST /_control/faults` of the desk, in this order. */
  readonly deskFaults: readonly DeskFault[];
  /** For `POST /_control/settings` of the desk. */
  readonly deskSettings: Partial<Settings>;
  /** For `POST /_control/faults` of the offline model server. A real model is not made to fail. */
  readonly modelFaults: readonly ModelFault[];
  /** What people say where the run asks them, in this order. */
  readonly answers: readonly Answer[];
  readonly expected: Expected;
}

export interface Answer {
  /** Of the wait that it is for. */
  readonly kind: 'approval' | 'question' | 'acceptance' | 'reconciliation' | 'handoff';
  readonly response: JsonObject;
  /** The code with which it has to be refused; the next answer of this kind then goes to the same wait. */
  readonly refusedAs?: string;
}

export interface Expected {
  readonly terminal: 'SUCCEEDED' | 'FAILED' | 'BUDGET_EXHAUSTED' | 'EXPIRED';
  readonly reason: string;
  /** All effects at the desk, in their order: kind, ticket and, for a reassignment, the team. */
  readonly effects: readonly ExpectedEffect[];
}

export interface ExpectedEffect {
  readonly kind: Effect['kind'];
  readonly ticket: string;
  readonly team?: string;
}

export const GOAL = 'Read ticket T100, reassign it to the right team by the on-call rules, then explain what was done.';
export const T100_MOVED: ExpectedEffect = { kind: 'reassign', ticket: 'T100', team: 'payments-oncall' };

export const succeeded = (...effects: readonly ExpectedEffect[]): Expected => ({
  terminal: 'SUCCEEDED',
  reason: 'finish.done',
  effects,
});

export const failed = (reason: string, ...effects: readonly ExpectedEffect[]): Expected => ({
  terminal: 'FAILED',
  reason,
  effects,
});

type Plain = Pick<Scenario, 'name' | 'id' | 'title' | 'expected'>;

/** T100 by the usual agent where nothing else is said, and nothing goes wrong by itself. */
export const scenario = (given: Plain & Partial<Scenario>): Scenario => ({
  agent: 'tickets',
  goal: GOAL,
  data: { ticket: 'T100' },
  deskFaults: [],
  deskSettings: {},
  modelFaults: [],
  answers: [],
  ...given,
});

/** T100 by somebody else in the model's place. */
export const playedBy = (persona: string, data: JsonObject = {}): Pick<Scenario, 'data'> => ({
  data: { ticket: 'T100', persona, ...data },
});
