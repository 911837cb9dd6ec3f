/**
 * What a person is shown before they decide: complete, or it says that it is not; and nothing in it that cannot be seen.
 * What a machine needs exactly (arguments to edit) is beside it as JSON text, with the unseen escaped.
 */
import { PLAN, QUESTION } from '../responses/plan-shape';
import { showInvisible, showInvisibleIn, toVisibleJson } from '../responses/show-invisible';
import type { WaitRow } from '../store/rows';
import type { Store } from '../store/store';
import type { Json } from '../workflows/contract/json';
import type { Plan, Question } from '../workflows/contract/records';

export interface ShownOperation {
  readonly operation: string;
  readonly tool: string;
  readonly risk: string;
  readonly target?: string;
  readonly expectedVersion?: string;
  readonly repeats?: string;
  /** Canonical, with the unseen made visible; `null` where they are too large to be shown. */
  readonly arguments: Json;
  /** The same as JSON text that keeps every character; its beginning where they are too large. */
  readonly argumentsJson: string;
  readonly bytes: number;
  readonly isComplete: boolean;
}

export type ShownPlan =
  | {
      readonly kind: 'plan';
      readonly why: string;
      readonly operations: readonly ShownOperation[];
      readonly isComplete: boolean;
      readonly diagnosis?: NonNullable<Plan['diagnosis']>;
      /** What was approved before, where the terms have changed since. */
      readonly previous?: Json;
    }
  | {
      readonly kind: 'question';
      readonly question: string;
      readonly askedBy: 'model' | 'runtime';
      readonly candidates?: readonly string[];
      readonly isComplete: boolean;
    };

export const loadShownPlan = async (
  store: Pick<Store, 'artifacts'>,
  { ref, kind, plan }: Pick<WaitRow, 'ref' | 'kind' | 'plan'>,
): Promise<ShownPlan> => {
  const stored = await store.artifacts.getJson(ref.tenant, plan);
  return kind === 'question' ? showQuestion(QUESTION.parse(stored)) : showPlan(PLAN.parse(stored));
};

const showQuestion = ({ question, askedBy, candidates }: Question): ShownPlan => {
  const shown = showLong(question);
  return {
    kind: 'question',
    question: shown.text,
    askedBy,
    ...(candidates === undefined ? {} : { candidates: candidates.map(showInvisible) }),
    isComplete: shown.isComplete,
  };
};

export const showPlan = (plan: Plan): ShownPlan => {
  const why = showLong(plan.why);
  const operations = plan.operations.map(showOperation);
  const { diagnosis, previous } = plan;
  return {
    kind: 'plan',
    why: why.text,
    operations,
    isComplete: plan.isComplete && why.isComplete && operations.every(({ isComplete }) => isComplete),
    ...(diagnosis === undefined ? {} : { diagnosis: { ...diagnosis, what: showInvisible(diagnosis.what) } }),
    ...(previous === undefined ? {} : { previous: showInvisibleIn(previous) }),
  };
};

const MAX_ARGUMENTS_BYTES = 256_000;
const MAX_TEXT_LENGTH = 100_000;
const CUT_LENGTH = 20_000;

const showOperation = (operation: Plan['operations'][number]): ShownOperation => {
  const { id, tool, risk, target, expectedVersion, repeats } = operation;
  const bytes = Buffer.byteLength(JSON.stringify(operation.arguments));
  const isComplete = bytes <= MAX_ARGUMENTS_BYTES;
  const argumentsJson = toVisibleJson(operation.arguments);
  return {
    operation: id,
    tool: showInvisible(tool),
    risk,
    ...(target === undefined ? {} : { target: showInvisible(target) }),
    ...(expectedVersion === undefined ? {} : { expectedVersion: showInvisible(expectedVersion) }),
    ...(repeats === undefined ? {} : { repeats }),
    arguments: isComplete ? showInvisibleIn(operation.arguments) : null,
    argumentsJson: isComplete ? argumentsJson : cut(argumentsJson),
    bytes,
    isComplete,
  };
};

const showLong = (text: string): { readonly text: string; readonly isComplete: boolean } =>
  text.length <= MAX_TEXT_LENGTH
    ? { text: showInvisible(text), isComplete: true }
    : { text: cut(showInvisible(text)), isComplete: false };

const cut = (text: string): string =>
  `${text.slice(0, CUT_LENGTH)}… [cut: ${text.length} characters, the first ${CUT_LENGTH} are shown]`;
