/**
 * Objects that the arguments name: each has to be known from a fact, or to have been named by a person. And where a choice
 * between objects is open, a write on one of them is the person's to decide.
 */
import { findRefs, type NamedObject } from '../../definition/find-refs';
import type { Target } from '../../definition/tool';
import type { Json } from '../../workflows/contract/json';
import type { Gap } from '../../workflows/contract/records';
import { readEvidenceSchema } from '../../definition/runtime-tools';
import { sha256Of } from '../operate/storable-json';
import { fail, pass, type Judgement, type PinnedContext, type Validator } from './judgement';
import type { ToolFace } from './known-tool';
import { isNamedByPerson, responseLeaves } from './named-by';
import type { ReadyCall } from './ready-call';
import { fieldOf, showText } from './show-value';

export interface ReferenceInput {
  readonly context: PinnedContext;
  readonly ordinal: number;
  readonly face: ToolFace;
  readonly args: Json;
}

const judge = (input: ReferenceInput): Judgement<ReadyCall> => {
  const { context, ordinal, face, args } = input;
  if (face.tool === undefined) return judgeEvidenceArgument(input);
  const refs = findRefs(face.inputSchema, args);
  const unknown = refs.find((ref) => !isKnown(context, ref));
  if (unknown !== undefined) return failUnknown(context, unknown);
  const found = findTarget(face, args);
  if (found.kind === 'failed') return found.judgement;
  const { target } = found;
  const names = namesOf(refs, target);
  const gap = face.effect === 'write' ? findOpenChoice(context, names) : undefined;
  if (gap !== undefined) return { kind: 'ambiguous', gap, evidence: { gap: gap.name } };
  const call: ReadyCall = {
    ordinal,
    face,
    args,
    argumentHash: sha256Of(args),
    refs,
    ...(target === undefined ? {} : { target: target.object }),
    ...(target?.expectedVersion === undefined ? {} : { expectedVersion: target.expectedVersion }),
  };
  return pass(call, { aims: aimsOf(context, names) });
};

/** The gaps that the call is to close: those that need a fact of an object that it is about. */
const aimsOf = ({ manifest }: PinnedContext, names: readonly string[]): readonly string[] =>
  manifest.gaps
    .filter(({ needs = [] }) => needs.some((fact) => names.some((object) => fact.startsWith(`${object}.`))))
    .map(({ name }) => name);

/** The runtime's own read names evidence, which either is the run's or is found to be none when it is read. */
const judgeEvidenceArgument = ({ ordinal, face, args }: ReferenceInput): Judgement<ReadyCall> => {
  const { evidence } = readEvidenceSchema.parse(args);
  return pass({ ordinal, face, args, argumentHash: sha256Of(args), refs: [] }, { evidence });
};

/** A person who chose among objects has named one by its whole name. */
const isKnown = (context: PinnedContext, { kind, id }: NamedObject): boolean => {
  const name = `${kind}:${id}`;
  return (
    context.facts.all.some(({ object }) => object === name) ||
    isNamedByPerson(context, id) ||
    responseLeaves(context.facts).includes(name)
  );
};

const MAX_LISTED = 10;

const failUnknown = ({ facts }: PinnedContext, { kind, id, path }: NamedObject): Judgement<never> => {
  const known = [...new Set(facts.all.map(({ object }) => object))].filter((object) => object.startsWith(`${kind}:`));
  const listed = known.slice(0, MAX_LISTED).map((object) => showText(object.slice(kind.length + 1)));
  const expected = `a ${kind} that a fact or the task names${listed.length === 0 ? '' : ` (${listed.join(', ')})`}`;
  const field = fieldOf(path);
  return fail({
    code: 'candidate.unknown_reference',
    error: 'INVALID_ARGUMENT',
    message: `${field}: got ${JSON.stringify(showText(id))}, expected ${expected}`,
    field,
    value: showText(id),
    expected,
  });
};

type FoundTarget =
  | { readonly kind: 'found'; readonly target: Target | undefined }
  | { readonly kind: 'failed'; readonly judgement: Judgement<never> };

const OBJECT_NAME = /^[^\s:]+:[^]+$/u;

const findTarget = ({ name, tool }: ToolFace, args: Json): FoundTarget => {
  try {
    const target = tool?.target?.(args);
    if (target === undefined || OBJECT_NAME.test(target.object)) return { kind: 'found', target };
    return {
      kind: 'failed',
      judgement: targetFault(name, `object ${JSON.stringify(showText(target.object))} is not '<kind>:<id>'`),
    };
  } catch (error) {
    return { kind: 'failed', judgement: targetFault(name, error instanceof Error ? error.message : 'it threw') };
  }
};

const targetFault = (tool: string, why: string): Judgement<never> => ({
  kind: 'refused',
  code: 'TOOL_FAULT',
  reason: 'tool.target_failed',
  message: `the target of ${tool} could not be told: ${showText(why)}`,
  rests: [],
  facts: [],
});

const namesOf = (refs: readonly NamedObject[], target: Target | undefined): readonly string[] => [
  ...refs.map(({ kind, id }) => `${kind}:${id}`),
  ...(target === undefined ? [] : [target.object]),
];

/** Two candidates at least, and no answer of a person that names one of them. */
const findOpenChoice = ({ manifest, facts }: PinnedContext, names: readonly string[]): Gap | undefined => {
  const answers = responseLeaves(facts);
  const isAnswered = (candidate: string): boolean =>
    answers.includes(candidate) || answers.includes(candidate.slice(candidate.indexOf(':') + 1));
  return manifest.gaps.find(
    ({ kind, candidates = [] }) =>
      kind === 'choice' &&
      candidates.length > 1 &&
      candidates.some((candidate) => names.includes(candidate)) &&
      !candidates.some(isAnswered),
  );
};

export const REFERENCES: Validator<ReferenceInput, ReadyCall> = { name: 'references', version: '1', judge };
