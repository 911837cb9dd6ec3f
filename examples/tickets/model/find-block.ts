/** What stops the task: a refusal that is final, or a failure that came back. */
import { callsOf, lastCalls, type Call, type Conversation } from './conversation';
import type { Claim, Move } from './move';

/** Never proposed again. */
const FINAL = ['PERMISSION_DENIED', 'DENIED', 'EXPIRED', 'OUTCOME_UNKNOWN', 'NOT_FOUND'] as const;
/** Tried again, but not for ever. */
const PASSING = ['UNAVAILABLE', 'RATE_LIMITED', 'TOOL_FAULT'] as const;
const MAX_FAILURES = 2;

/** Without these the task cannot be done; any other call may fail. Where a search finds nothing, the person is asked. */
const NEEDED: readonly string[] = ['get_ticket', 'get_oncall_rules'];

export const findBlock = (conversation: Conversation): Move | undefined => {
  const { responses, status } = conversation;
  if (status.finding !== undefined && lastCalls(conversation).some(isCannot)) return undefined;
  if (responses.some(({ wait, response }) => wait === 'question' && response === undefined)) {
    return cannot('Nobody answered my question in time, so I do not know which ticket is meant.', []);
  }
  const blocked = lastCalls(conversation).find((each) => isBlocking(conversation, each));
  return blocked === undefined ? undefined : cannotAfter(blocked);
};

const isCannot = ({ tool, input }: Call): boolean => tool === 'finish' && input['outcome'] === 'cannot';

const isBlocking = (conversation: Conversation, blocked: Call): boolean => {
  const { tool, code } = blocked;
  if (code === undefined || !isNeeded(conversation, blocked)) return false;
  if (FINAL.some((each) => each === code)) return true;
  const failures = callsOf(conversation).filter((each) => each.tool === tool && each.code === code).length;
  return PASSING.some((each) => each === code) && failures >= MAX_FAILURES;
};

/** A reassignment that no rule asks for was not needed either. */
const isNeeded = ({ status }: Conversation, { tool, input }: Call): boolean =>
  tool === 'reassign_ticket'
    ? status.facts.some(({ object, field, value }) => isRule(object) && field === 'team' && value === input['team'])
    : NEEDED.includes(tool);

const isRule = (object: string): boolean => object.startsWith('rule:');

const cannotAfter = ({ tool, code = '', message = '', evidence }: Call): Move => {
  const what = WORDS[tool] ?? tool;
  const answer = `I could not finish the task: ${what} was not possible (${code}: ${message}). Nothing else was changed.`;
  const claims = evidence === undefined ? [] : [{ text: `${what} ended with ${code}.`, evidence: [evidence] }];
  return cannot(answer, claims);
};

const WORDS: Readonly<Record<string, string>> = {
  get_ticket: 'reading the ticket',
  get_oncall_rules: 'reading the on-call rules',
  reassign_ticket: 'reassigning the ticket',
};

/** Ends the task without having done it. */
export const cannot = (answer: string, claims: readonly Claim[]): Move => ({
  kind: 'finish',
  say: 'I have to stop here.',
  outcome: 'cannot',
  answer,
  claims,
});
