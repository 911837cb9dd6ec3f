/** What a tool returned, checked against what it declares: its output, its facts, and the hash by which results compare. */
import type { DeclaredFact, Receipt, Tool } from '../../definition/tool';
import type { Artifact } from '../../store/artifact';
import type { Settlement } from '../../store/rows';
import type { Store } from '../../store/store';
import type { EvidenceId, TenantId } from '../../workflows/contract/ids';
import type { Json, JsonObject } from '../../workflows/contract/json';
import type { Fact } from '../../workflows/contract/records';
import { OutputMismatch } from './call-errors';
import type { PinnedTool } from './load-operation';
import { canonicalText, isJsonObject, sha256Of, toStorableJson } from './storable-json';

export interface CheckedOutput {
  readonly output: Json;
  readonly facts: readonly Fact[];
  /** Over declared facts and output, fields marked volatile left out. */
  readonly resultHash: string;
}

export interface Called extends PinnedTool {
  readonly evidence: EvidenceId;
}

const MAX_FACTS = 500;

/** Throws OutputMismatch, and whatever the tool's own `facts` throws. */
export const checkOutput = async ({ tool, input, evidence }: Called, value: unknown): Promise<CheckedOutput> => {
  const parsed = await tool.outputSchema.safeParseAsync(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const field = issue?.path.map(String).join('.') ?? '';
    throw new OutputMismatch(tool.name, { field, expected: issue?.message ?? 'another shape' }, parsed.error);
  }
  const output = toJson(tool, parsed.data);
  const declared = (tool.facts?.(parsed.data, input) ?? []).map((fact) => toStorableFact(tool, fact));
  if (declared.length > MAX_FACTS) {
    throw new OutputMismatch(tool.name, { field: 'facts', expected: `at most ${String(MAX_FACTS)} facts` });
  }
  return {
    output,
    facts: declared.map((fact) => ({ ...fact, evidence })),
    resultHash: sha256Of({ facts: declared.map(toJsonFact), output: withoutVolatile(tool, output) }),
  };
};

const toJson = (tool: Tool, data: unknown): Json => {
  try {
    return toStorableJson(data);
  } catch (error) {
    throw new OutputMismatch(tool.name, { field: '', expected: 'a value that JSON has a form for' }, error);
  }
};

const OBJECT_NAME = /^[^\s:]+:[^]+$/u;

const toStorableFact = (tool: Tool, { object, field, value, version }: DeclaredFact): DeclaredFact => {
  const name = asText(object);
  if (!OBJECT_NAME.test(name)) {
    throw new OutputMismatch(tool.name, {
      field: 'facts.object',
      expected: `'<kind>:<id>', got ${JSON.stringify(name)}`,
    });
  }
  return {
    object: name,
    field: asText(field),
    value: toStorableJson(value),
    ...(version === undefined ? {} : { version: asText(version) }),
  };
};

const asText = (value: unknown): string => {
  const text = toStorableJson(value);
  return typeof text === 'string' ? text : canonicalText(text);
};

const toJsonFact = ({ object, field, value, version }: DeclaredFact): JsonObject => ({
  object,
  field,
  value,
  ...(version === undefined ? {} : { version }),
});

const withoutVolatile = ({ volatileFields = [] }: Tool, output: Json): Json =>
  isJsonObject(output)
    ? Object.fromEntries(Object.entries(output).filter(([field]) => !volatileFields.includes(field)))
    : output;

const JSON_TYPE = 'application/json';
const TEXT_TYPE = 'text/plain; charset=utf-8';
const BYTES_TYPE = 'application/octet-stream';

type Raw = Receipt<unknown>['raw'];

/** Stores the body as it arrived; nothing where the tool did not hand it on. */
export const storeRaw = async (store: Store, tenant: TenantId, raw: Raw): Promise<Pick<Settlement, 'raw'>> =>
  raw === undefined ? {} : { raw: await store.artifacts.put(tenant, toRawContent(raw)) };

/** The same for a statement that stores it with the row that names it. */
export const draftRaw = (store: Store, tenant: TenantId, raw: Raw): readonly Artifact[] =>
  raw === undefined ? [] : [store.artifacts.draft(tenant, toRawContent(raw))];

const toRawContent = (raw: NonNullable<Raw>) =>
  typeof raw === 'string'
    ? { bytes: Buffer.from(raw, 'utf8'), mediaType: TEXT_TYPE }
    : { bytes: raw, mediaType: BYTES_TYPE };

/** Also values at whose root is no object. */
export const storeOutput = async (
  store: Store,
  tenant: TenantId,
  output: Json,
): Promise<Required<Pick<Settlement, 'output'>>> => ({
  output: await store.artifacts.put(tenant, toOutputContent(output)),
});

export const draftOutput = (store: Store, tenant: TenantId, output: Json): Artifact =>
  store.artifacts.draft(tenant, toOutputContent(output));

const toOutputContent = (output: Json) => ({
  bytes: Buffer.from(canonicalText(output), 'utf8'),
  mediaType: JSON_TYPE,
});
