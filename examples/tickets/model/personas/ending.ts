/** Personas that end, or think, when it is not time to. */
import { callsOf, lastCalls, type Conversation } from '../conversation';
import { findTicket } from '../find-ticket';
import type { Move } from '../move';
import type { Persona } from '../persona';

/** Says that it is done without having done it, and insists. */
export const premature: Persona = (conversation) => finishUnfounded(conversation);

/** Says so once; told what is missing, it does the work. */
export const hasty: Persona = (conversation) =>
  callsOf(conversation).some(({ tool }) => tool === 'finish') ? undefined : finishUnfounded(conversation);

const finishUnfounded = (conversation: Conversation): Move => {
  const ticket = findTicket(conversation) ?? 'the ticket';
  const [gap] = conversation.status.gaps;
  const isTold = conversation.status.finding !== undefined;
  const doubt = isTold && gap !== undefined ? ` You say that something is missing (${gap.lacks}), but it is done.` : '';
  return {
    kind: 'finish',
    say: 'That was quick.',
    outcome: 'done',
    answer: `I reassigned ${ticket} to the right team.${doubt}`,
    claims: [],
  };
};

/** Wants to think where a fact has to be read; refused, it reads. */
export const asksAnalysisForFact: Persona = ({ turns, status }) => {
  const gap = status.gaps.find(({ kind }) => kind === 'fact');
  if (turns.length > 0 || gap === undefined) return undefined;
  return {
    kind: 'analyse',
    say: 'Let me think about it before I look at anything.',
    gap: gap.name,
    notes: 'The ticket is probably about the web shop.',
  };
};

/** Thinks as soon as it may, and goes on thinking. */
export const ponders: Persona = (conversation) => {
  const gap = conversation.status.gaps.find(({ kind }) => kind === 'work');
  const isRefused = lastCalls(conversation).some(({ tool, code }) => tool === 'analyse' && code !== undefined);
  if (gap === undefined || isRefused) return undefined;
  return {
    kind: 'analyse',
    say: 'This needs a closer look.',
    gap: gap.name,
    notes: `Thought number ${String(callsOf(conversation).filter(({ tool }) => tool === 'analyse').length + 1)}.`,
  };
};
