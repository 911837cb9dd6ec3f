/** What an answer may say: each claim on evidence of this run, each assertion equal to a confirmed fact, nothing secret. */
import type { CompletionView } from '../../definition/agent';
import type { Answer, Claim } from '../../workflows/contract/records';
import { canonicalText } from '../operate/storable-json';
import type { FinishLookUps } from './look-ups';
import { fail, pass, type Fault, type Judgement, type PinnedContext, type Validator } from './judgement';
import { leavesOf } from './named-by';
import { keepValue, showText, showValue } from './show-value';

export interface AnswerInput {
  readonly context: PinnedContext;
  readonly answer: Answer;
  readonly lookUps: FinishLookUps;
}

export type AnswerValidator = Validator<AnswerInput, undefined>;

/** What conditions and the agent's own validators look at; without the answer, what the task lacks as it stands. */
export const viewOf = (
  { task, facts }: PinnedContext,
  { operations }: FinishLookUps,
  answer?: Answer,
): CompletionView => ({
  task,
  facts,
  operations,
  ...(answer === undefined ? {} : { answer }),
});

const fault = (code: string, details: Pick<Fault, 'field' | 'value' | 'expected' | 'message'>): Judgement<never> =>
  fail({ code, error: 'INVALID_ARGUMENT', ...details });

/** Claims cite evidence that exists. */
export const CITATIONS: AnswerValidator = {
  name: 'citations',
  version: '1',
  judge: ({ answer, lookUps }) => {
    for (const [index, { evidence }] of answer.claims.entries()) {
      const unknown = evidence.find((id) => !lookUps.evidence.includes(id));
      if (unknown === undefined) continue;
      const field = `claims[${String(index)}].evidence`;
      const expected = "the id of this run's evidence, as it was shown with a result";
      const message = `${field}: got ${unknown}, expected ${expected}`;
      return fault('finish.evidence_unknown', { field, value: unknown, expected, message });
    }
    return pass(undefined, { evidence: [...new Set(answer.claims.flatMap(({ evidence }) => evidence))] });
  },
};

/** Each assertion equals the newest fact on its object and field. */
export const ASSERTIONS: AnswerValidator = {
  name: 'assertions',
  version: '1',
  judge: ({ context, answer }) => {
    for (const [claimIndex, claim] of answer.claims.entries()) {
      for (const [index, assertion] of (claim.asserts ?? []).entries()) {
        const found = judgeAssertion(context, assertion, `claims[${String(claimIndex)}].asserts[${String(index)}]`);
        if (found !== undefined) return found;
      }
    }
    return pass(undefined);
  },
};

type Assertion = NonNullable<Claim['asserts']>[number];

const judgeAssertion = (
  { facts }: PinnedContext,
  assertion: Assertion,
  field: string,
): Judgement<never> | undefined => {
  const { object, field: name, value } = assertion;
  const fact = facts.find(object, name);
  const about = `${showText(object)}.${showText(name)}`;
  if (fact === undefined) {
    const expected = 'something that a fact confirms';
    return fault('finish.assertion_unconfirmed', {
      field,
      value: about,
      expected,
      message: `${field}: no fact says anything of ${about}, expected ${expected}`,
    });
  }
  if (canonicalText(fact.value) === canonicalText(value)) return undefined;
  const version = fact.version === undefined ? '' : ` at version ${showText(fact.version)}`;
  const expected = `${showValue(fact.value)}${version}, by ${fact.evidence}`;
  return fault('finish.assertion_wrong', {
    field: `${field}.value`,
    value: keepValue(value),
    expected,
    message: `${field}.value: ${about}: got ${showValue(value)}, expected ${expected}`,
  });
};

/** Shapes of credentials that have no place in any answer. */
const SECRETS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['a private key', /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----/],
  ['an API key', /\bsk-[A-Za-z0-9_-]{20,}/],
  ['an AWS access key', /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/],
  ['a GitHub token', /\bgh[pousr]_[A-Za-z0-9]{36,}/],
  ['a Slack token', /\bxox[abprs]-[A-Za-z0-9-]{10,}/],
  ['a signed token', /\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}/],
];

/** No secrets, and nothing that the agent's definition calls sensitive. The finding does not repeat what it found. */
export const SENSITIVE: AnswerValidator = {
  name: 'sensitive',
  version: '1',
  judge: ({ context, answer }) => {
    const own = (context.agent.definition.sensitive ?? []).map(
      (pattern, index) => [`sensitive[${String(index)}]`, pattern] as const,
    );
    for (const [field, text] of textsOf(answer)) {
      const found = [...SECRETS, ...own].find(([, pattern]) => isFoundIn(pattern, text));
      if (found === undefined) continue;
      const expected = 'an answer without it';
      return fault('finish.sensitive', {
        field,
        expected,
        message: `${field}: holds ${found[0]}, expected ${expected}`,
      });
    }
    return pass(undefined);
  },
};

/** A global or sticky expression remembers where it was; this one does not. */
const isFoundIn = ({ source, flags }: RegExp, text: string): boolean =>
  new RegExp(source, flags.replaceAll(/[gy]/g, '')).test(text);

const textsOf = ({ answer, claims }: Answer): readonly (readonly [field: string, text: string])[] => [
  ['answer', answer],
  ...claims.flatMap(({ text, asserts = [] }, index) => {
    const field = `claims[${String(index)}]`;
    return [
      [`${field}.text`, text] as const,
      ...asserts.flatMap(({ object, value }) =>
        [object, ...leavesOf(value)].map((leaf) => [`${field}.asserts`, leaf] as const),
      ),
    ];
  }),
];

/** The agent's own validators, each a decision of its own. */
export const ownValidatorsOf = ({ agent }: PinnedContext): readonly AnswerValidator[] =>
  (agent.definition.validators ?? []).map(({ name, version, check }) => ({
    name: `own.${name}`,
    version,
    judge: ({ context, answer, lookUps }) => {
      const message = runCheck(() => check(answer, viewOf(context, lookUps, answer)));
      return message === undefined ? pass(undefined) : fault(`finish.own.${name}`, { message: showText(message) });
    },
  }));

const runCheck = (check: () => string | undefined): string | undefined => {
  try {
    return check();
  } catch (error) {
    return `it could not be checked (${error instanceof Error ? error.message : 'it threw'})`;
  }
};
