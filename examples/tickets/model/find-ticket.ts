/** The ticket that a task is about, as the request shows it. */
import type { Json } from '../../../index';
import type { Conversation } from './conversation';

const IN_TEXT = /\bT\d{1,9}\b/g;
const ID = /^(?:ticket:)?(T\d{1,9})$/;

/** A person's answer counts more than the goal's words. */
export const findTicket = ({ goal, data, responses }: Conversation): string | undefined => {
  const answered = responses.flatMap(({ response }) => idsIn(response)).at(-1);
  const inGoal = [...new Set(goal.match(IN_TEXT) ?? [])];
  return idsIn(data['ticket'])[0] ?? answered ?? (inGoal.length === 1 ? inGoal[0] : undefined);
};

/** Of the value and of everything inside it: how an answer is wrapped does not matter here. */
const idsIn = (value: Json | undefined): readonly string[] => {
  if (typeof value === 'string') return ID.exec(value.trim())?.slice(1) ?? [];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(idsIn) : [];
};
