import type { z } from 'zod';
import { invalidRequest } from '../api-error';
import { nativeRequestSchema, type NativeRequest } from '../native-request';

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

/** JSON value → request, or 400 with the first thing that is wrong, in the provider's words: `path: what is expected`. */
export function parseShape(body: unknown): NativeRequest {
  const parsed = nativeRequestSchema.safeParse(body);
  if (parsed.success) return parsed.data;
  const { issue, path } = innermost(parsed.error.issues, []);
  throw invalidRequest(describe(issue, path, body));
}

/** A union fails in each branch; the telling branch is the one that accepted the value's own type. */
function innermost(issues: readonly Issue[], prefix: Path): { readonly issue: Issue; readonly path: Path } {
  const issue = issues[0];
  if (issue === undefined) throw new Error('a failed parse has at least one issue');
  const path = [...prefix, ...issue.path];
  if (issue.code !== 'invalid_union' || issue.errors.length === 0) return { issue, path };
  const telling = issue.errors.find((branch) => !branch.some(rejectsTypeAtRoot)) ?? issue.errors[0];
  return innermost(telling ?? [], path);
}

function rejectsTypeAtRoot(issue: Issue): boolean {
  return issue.code === 'invalid_type' && issue.path.length === 0;
}

function describe(issue: Issue, path: Path, body: unknown): string {
  if (issue.code === 'unrecognized_keys') {
    return `${describePath([...path, issue.keys[0] ?? ''], body)}: Extra inputs are not permitted`;
  }
  return `${describePath(path, body)}: ${expectation(issue, valueAt(body, path))}`;
}

function expectation(issue: Issue, value: unknown): string {
  if (value === undefined) return 'Field required';
  switch (issue.code) {
    case 'invalid_type':
      return `Input should be ${TYPE_NAMES[issue.expected] ?? `a valid ${issue.expected}`}`;
    case 'invalid_value':
      return `Input should be ${issue.values.map((expected) => `'${String(expected)}'`).join(' or ')}`;
    case 'invalid_union':
      return `Input tag ${JSON.stringify(value)} does not match any of the expected tags`;
    case 'invalid_format':
      return `String should match pattern '${trimSlashes(issue.pattern ?? '')}'`;
    case 'too_small':
      if (issue.origin === 'string') return `String should have at least ${issue.minimum} character`;
      return `Input should be greater than or equal to ${issue.minimum}`;
    case 'too_big':
      if (issue.origin === 'string') return `String should have at most ${issue.maximum} characters`;
      return `Input should be less than or equal to ${issue.maximum}`;
    default:
      return issue.message;
  }
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  record: 'a valid dictionary',
  object: 'a valid dictionary or object to extract fields from',
  array: 'a valid list',
  int: 'a valid integer',
  number: 'a valid number',
  boolean: 'a valid boolean',
};

function trimSlashes(pattern: string): string {
  return pattern.replace(/^\/|\/[a-z]*$/g, '');
}

/** Inside a content block or a tool the provider's path also names the kind, as in `messages.0.content.1.tool_use.id`. */
function describePath(path: Path, body: unknown): string {
  const segments: string[] = [];
  path.forEach((segment, index) => {
    segments.push(String(segment));
    if (typeof segment !== 'number' || index === path.length - 1) return;
    const kind = kindOf(path[index - 1], valueAt(body, path.slice(0, index + 1)));
    if (kind !== undefined && path[index + 1] !== 'type') segments.push(kind);
  });
  return segments.join('.');
}

function kindOf(list: PropertyKey | undefined, value: unknown): string | undefined {
  if (list === 'tools') return 'custom';
  if (list !== 'content') return undefined;
  const type = valueAt(value, ['type']);
  return typeof type === 'string' ? type : undefined;
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((parent, segment) => {
    if (typeof parent !== 'object' || parent === null || !Object.hasOwn(parent, segment)) return undefined;
    return Reflect.get(parent, segment);
  }, value);
}
