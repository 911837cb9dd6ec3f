/** States and waits in a few plain words, for people who see them for the first time. */
import type { RUN_STATES } from '../schemas/run';
import type { WaitView } from '../schemas/wait';

export type RunState = (typeof RUN_STATES)[number];
export type Tone = 'good' | 'bad' | 'warn' | 'busy' | 'calm';

interface StateWords {
  readonly tone: Tone;
  readonly says: string;
}

export const STATE_WORDS: Readonly<Record<RunState, StateWords>> = {
  STARTING: { tone: 'busy', says: 'The run is being started' },
  READY: { tone: 'busy', says: 'The next step is being prepared' },
  MODEL_RUNNING: { tone: 'busy', says: 'The model is writing' },
  VALIDATING: { tone: 'busy', says: 'What the model proposed is being checked' },
  TOOL_RUNNING: { tone: 'busy', says: 'A tool is at work' },
  WAITING_TOOL: { tone: 'warn', says: 'An outside system has to finish' },
  WAITING_USER: { tone: 'warn', says: 'A person has to answer' },
  FINALIZING: { tone: 'busy', says: 'The result is being written down' },
  SUCCEEDED: { tone: 'good', says: 'Done, and every condition holds by the records' },
  FAILED: { tone: 'bad', says: 'Ended without reaching the goal' },
  BUDGET_EXHAUSTED: { tone: 'bad', says: 'Ended because a limit was spent' },
  EXPIRED: { tone: 'bad', says: 'Ended because its time was over' },
  CANCELLED: { tone: 'calm', says: 'Cancelled; nothing is left open' },
  CANCEL_UNKNOWN: { tone: 'bad', says: 'Cancelled; what became of an operation is not known' },
  HANDED_OFF: { tone: 'calm', says: 'A person has taken it over' },
};

export type WaitKind = WaitView['kind'];
export type WaitState = WaitView['state'];

interface KindWords {
  readonly name: string;
  readonly asks: string;
}

export const KIND_WORDS: Readonly<Record<WaitKind, KindWords>> = {
  approval: { name: 'Approval', asks: 'May the agent do this?' },
  question: { name: 'Question', asks: 'The agent needs an answer' },
  acceptance: { name: 'Acceptance', asks: 'Is the work as it should be?' },
  reconciliation: { name: 'Reconciliation', asks: 'What became of this operation?' },
  handoff: { name: 'Hand-off', asks: 'Take the run over, or say how to go on' },
};

export const WAIT_STATE_WORDS: Readonly<Record<WaitState, { readonly tone: Tone; readonly name: string }>> = {
  OPEN: { tone: 'warn', name: 'Open' },
  CONSUMED: { tone: 'good', name: 'Answered' },
  EXPIRED: { tone: 'bad', name: 'Expired' },
  VOID: { tone: 'calm', name: 'Not asked any more' },
};

/** `expectedVersion`, `expected_version` → `Expected version`. */
export const humanize = (name: string): string => {
  const words = name
    .replace(/_/g, ' ')
    .replace(/([a-z0-9])([A-Z])/g, (_all, a: string, b: string) => `${a} ${b.toLowerCase()}`);
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
};
