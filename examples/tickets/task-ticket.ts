/** Which ticket a task is about: as its data say, as a person answered, or as its goal names it. */
import type { CompletionView, FactsView, Json } from '../../index';
import { ticketObject } from './tools/facts';

export type TaskTicket =
  | { readonly kind: 'named'; readonly ticket: string }
  | { readonly kind: 'unnamed'; readonly candidates: readonly string[] };

export const findTaskTicket = ({ task, facts }: Pick<CompletionView, 'task' | 'facts'>): TaskTicket => {
  const given = asTicketId(task.data['ticket']);
  const answered = personsWords(facts).flatMap((word) => asTicketId(word) ?? []);
  const inGoal = [...new Set(task.goal.match(TICKET_IDS) ?? [])];
  const named = given ?? answered.at(-1) ?? (inGoal.length === 1 ? inGoal[0] : undefined);
  return named === undefined ? { kind: 'unnamed', candidates: inGoal } : { kind: 'named', ticket: named };
};

const TICKET_IDS = /\bT\d{1,9}\b/g;
const TICKET_ID = /^T\d{1,9}$/;

/** All texts of what people answered. Evidence of a response begins with W; how the answer is wrapped does not matter. */
export const personsWords = (facts: FactsView): readonly string[] =>
  facts.all.filter(({ evidence }) => evidence.startsWith('W')).flatMap(({ value }) => textsIn(value));

const textsIn = (value: Json): readonly string[] => {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
};

/** A bare id, or the object that was chosen. */
const asTicketId = (value: Json | undefined): string | undefined => {
  if (typeof value !== 'string') return undefined;
  const id = value.startsWith(ticketObject('')) ? value.slice(ticketObject('').length) : value.trim();
  return TICKET_ID.test(id) ? id : undefined;
};
