/** What names the team of a ticket, as the request shows it: on-call rules or, where there are none, a person's answer. */
import { z } from 'zod';
import { callsOf, findFact, findText, type Conversation } from './conversation';

/** Something that names a team. */
export interface Basis {
  /** As it is spoken of: `On-call rule R-7`. */
  readonly words: string;
  readonly team: string;
  /** Absent for a person's answer. */
  readonly rule?: string;
  /** Of a rule, as long as its reading is still shown. */
  readonly text?: string;
}

/** Undefined where the rules of the service have not been read. */
export const findRules = (conversation: Conversation, service: string): readonly Basis[] | undefined => {
  const rules = z.array(z.string()).safeParse(findFact(conversation, `service:${service}`, 'rules')?.value);
  if (!rules.success) return undefined;
  const texts = ruleTexts(conversation);
  return rules.data.flatMap((rule) => {
    const team = findText(conversation, `rule:${rule}`, 'team');
    const text = texts.get(rule);
    const words = `On-call rule ${rule}`;
    return team === undefined ? [] : [{ words, team, rule, ...(text === undefined ? {} : { text }) }];
  });
};

const rulesShape = z.object({ rules: z.array(z.object({ id: z.string(), text: z.string() })) });

const ruleTexts = (conversation: Conversation): ReadonlyMap<string, string> => {
  const read = callsOf(conversation).flatMap(({ result }) => rulesShape.safeParse(result).data?.rules ?? []);
  return new Map(read.map(({ id, text }) => [id, text]));
};

const teamAnswerShape = z.object({ team: z.string().trim().min(1) });

/** A person's answer to the question which team it is, bare or wrapped. */
export const findAnsweredTeam = ({ responses }: Conversation): Basis | undefined => {
  const answers = responses.flatMap(({ response }) => [response, unwrapped(response)]);
  const team = answers.flatMap((each) => teamAnswerShape.safeParse(each).data?.team ?? []).at(-1);
  return team === undefined ? undefined : { words: 'Your answer', team };
};

const unwrapped = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && 'response' in value ? value.response : undefined;

const ticketShape = z.object({ id: z.string(), title: z.string(), body: z.string() });

/** The rule whose condition the ticket's own words bear out; the first where none stands out. */
export const chooseRule = (conversation: Conversation, ticket: string, rules: readonly Basis[]): Basis | undefined => {
  const words = ticketWords(conversation, ticket);
  const scored = rules.map((rule) => ({ rule, score: scoreOf(rule.text ?? '', words) }));
  return scored.reduce<(typeof scored)[number] | undefined>(
    (best, each) => (best === undefined || each.score > best.score ? each : best),
    undefined,
  )?.rule;
};

const ticketWords = (conversation: Conversation, ticket: string): string => {
  const read = callsOf(conversation).flatMap(({ result }) => ticketShape.safeParse(result).data ?? []);
  const latest = read.findLast(({ id }) => id === ticket);
  return latest === undefined ? '' : `${latest.title} ${latest.body}`.toLowerCase();
};

/** What a rule may depend on, and how a ticket reports that it is so. */
const CLUES: readonly (readonly [inRule: RegExp, inTicket: RegExp])[] = [
  [/charge is correct/i, /a single charge|charged once|amount is right/],
  [/wrong amount/i, /wrong amount|amount is wrong|too much|too little/],
  [/charge that happened more than once/i, /two charges|both charges|charged twice on the statement/],
  [/receipts that are late, lost or sent more than once/i, /two receipts|no receipt|receipt is late/],
];

const scoreOf = (rule: string, ticket: string): number =>
  CLUES.filter(([inRule, inTicket]) => inRule.test(rule) && inTicket.test(ticket)).length;
