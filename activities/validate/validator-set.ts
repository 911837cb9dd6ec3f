/** Every validator by its place in the chain. Another set, or one with a stricter member, judges stored candidates again. */
import { ANALYSE } from './analyse';
import { ASSERTIONS, CITATIONS, SENSITIVE, type AnswerValidator } from './answer-rules';
import { BLOCK } from './block';
import { COMPLETION } from './completion';
import { EQUIVALENT } from './equivalent';
import { FRESHNESS } from './freshness';
import { GATE } from './gate';
import { KNOWN_TOOL } from './known-tool';
import { PERMISSION } from './permission';
import { QUESTION } from './question';
import { REFERENCES } from './references';
import { SCHEMA } from './schema';
import { STRUCTURE } from './structure';

export interface ValidatorSet {
  readonly gate: typeof GATE;
  readonly structure: typeof STRUCTURE;
  readonly knownTool: typeof KNOWN_TOOL;
  readonly schema: typeof SCHEMA;
  readonly references: typeof REFERENCES;
  readonly equivalent: typeof EQUIVALENT;
  readonly permission: typeof PERMISSION;
  readonly freshness: typeof FRESHNESS;
  readonly question: typeof QUESTION;
  readonly analyse: typeof ANALYSE;
  /** Before the agent's own. */
  readonly answer: readonly AnswerValidator[];
  readonly completion: AnswerValidator;
  readonly block: typeof BLOCK;
}

export const VALIDATORS: ValidatorSet = {
  gate: GATE,
  structure: STRUCTURE,
  knownTool: KNOWN_TOOL,
  schema: SCHEMA,
  references: REFERENCES,
  equivalent: EQUIVALENT,
  permission: PERMISSION,
  freshness: FRESHNESS,
  question: QUESTION,
  analyse: ANALYSE,
  answer: [CITATIONS, ASSERTIONS, SENSITIVE],
  completion: COMPLETION,
  block: BLOCK,
};
