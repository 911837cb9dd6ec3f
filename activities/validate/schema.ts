/**
 * The arguments against the tool's schema. What goes on is the schema's output in RFC 8785 form: the same bytes are shown
 * to whoever approves, hashed, stored and sent.
 */
import type { z } from 'zod';
import type { Json } from '../../workflows/contract/json';
import type { CandidateCall } from '../model/candidate';
import type { InputFlaw } from '../model/call-input';
import { canonicalText, toStorableJson } from '../operate/storable-json';
import { fail, pass, type Fault, type Judgement, type Validator } from './judgement';
import type { ToolFace } from './known-tool';
import { fieldOf, fieldOfPointer, keepValue, showText, showValue, valueAt } from './show-value';

export interface SchemaInput {
  readonly call: CandidateCall;
  readonly face: Pick<ToolFace, 'name' | 'inputSchema' | 'hash'>;
}

const judge = ({ call, face }: SchemaInput): Judgement<Json> => {
  const judgement = judgeArguments(call, face);
  return { ...judgement, version: `1/${face.hash.slice(0, 8)}` };
};

const judgeArguments = (call: CandidateCall, face: SchemaInput['face']): Judgement<Json> => {
  if ('invalidJson' in call) {
    const value = showText(call.invalidJson);
    return fail(invalid('candidate.invalid_json', { field: '', value, expected: 'a JSON object' }));
  }
  const [flaw] = call.flaws ?? [];
  if (flaw !== undefined) return fail(describeFlaw(flaw));
  try {
    const parsed = face.inputSchema.safeParse(call.input);
    return parsed.success ? judgeOutput(face, parsed.data) : fail(describeIssue(call.input, parsed.error.issues[0]));
  } catch (error) {
    return toolFault('tool.schema_failed', `the schema of ${face.name} could not be applied`, error);
  }
};

/** What was approved is parsed again before it is sent; a schema that changes its own output would send something else. */
const judgeOutput = (face: SchemaInput['face'], data: unknown): Judgement<Json> => {
  const output = toStorableJson(data);
  const again = face.inputSchema.safeParse(output);
  const isStable = again.success && canonicalText(toStorableJson(again.data)) === canonicalText(output);
  return isStable
    ? pass(output)
    : toolFault('tool.schema_unstable', `the schema of ${face.name} changes what it gave out itself`);
};

interface Mismatch {
  readonly field: string;
  readonly value: Json | undefined;
  readonly expected: string;
}

const invalid = (code: string, { field, value, expected }: Mismatch): Fault => ({
  code,
  error: 'INVALID_ARGUMENT',
  message: `${field === '' ? 'arguments' : field}: got ${showValue(value)}, expected ${expected}`,
  field,
  ...(value === undefined ? {} : { value: keepValue(value) }),
  expected,
});

const FLAWS: Readonly<Record<InputFlaw['kind'], { readonly code: string; readonly expected: string }>> = {
  lossyNumber: {
    code: 'candidate.lossy_number',
    expected: 'a number that a double holds exactly; write larger ones as text where the tool takes text',
  },
  duplicateKey: { code: 'candidate.duplicate_key', expected: 'each key once' },
  illFormedText: {
    code: 'candidate.ill_formed_text',
    expected: 'whole characters, no half of a surrogate pair and no NUL',
  },
};

const describeFlaw = ({ kind, path, text }: InputFlaw): Fault => {
  const { code, expected } = FLAWS[kind];
  return invalid(code, { field: fieldOfPointer(path), value: showText(text), expected });
};

type Issue = z.core.$ZodIssue;

const describeIssue = (input: Json, issue: Issue | undefined): Fault => {
  const { path, issue: deepest } = findDeepest(issue);
  const expected = deepest === undefined ? 'other arguments' : expectedBy(deepest);
  return invalid('candidate.invalid_arguments', { field: fieldOf(path), value: valueAt(input, path), expected });
};

interface PlacedIssue {
  readonly path: readonly PropertyKey[];
  readonly issue: Issue | undefined;
}

/** A union's own issue says nothing; what its furthest option found wrong does. */
const findDeepest = (issue: Issue | undefined, prefix: readonly PropertyKey[] = []): PlacedIssue => {
  const path = [...prefix, ...(issue?.path ?? [])];
  if (issue?.code !== 'invalid_union') return { path, issue };
  const inner = issue.errors.flatMap(([first]) => (first === undefined ? [] : [findDeepest(first, path)]));
  const deepest = inner.reduce<PlacedIssue>((best, each) => (each.path.length > best.path.length ? each : best), {
    path,
    issue,
  });
  return deepest;
};

const expectedBy = (issue: Issue): string => {
  switch (issue.code) {
    case 'invalid_type':
      return issue.expected;
    case 'invalid_value':
      return `one of ${issue.values.map((value) => String(value)).join(', ')}`;
    case 'unrecognized_keys':
      return `no ${issue.keys.join(', ')}`;
    default:
      return issue.message;
  }
};

const toolFault = (reason: string, message: string, error?: unknown): Judgement<never> => ({
  kind: 'refused',
  code: 'TOOL_FAULT',
  reason,
  message,
  rests: [],
  facts: [],
  evidence:
    error === undefined
      ? {}
      : { error: error instanceof Error ? showText(`${error.name}: ${error.message}`) : 'unknown' },
});

export const SCHEMA: Validator<SchemaInput, Json> = { name: 'schema', version: '1', judge };
