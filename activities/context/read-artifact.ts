/** Reads an artifact back and parses its shape; what every step reads is parsed once, since an artifact never changes. */
import type { ActivityDeps } from '../deps';
import type { ArtifactHash, TenantId } from '../../workflows/contract/ids';
import type { ArtifactShape } from './artifact-shapes';
import { createBoundedCache, type BoundedCache } from './bounded-cache';
import { ArtifactUnreadable, ArtifactVersionUnknown } from './errors';

export interface ArtifactAddress {
  readonly tenant: TenantId;
  readonly hash: ArtifactHash;
}

type Artifacts = ActivityDeps['store']['artifacts'];

const KEPT_VALUES = 1_000;

/** Of each store that was passed in, by shape and address; nothing is kept beyond the store's own life. */
const kept = new WeakMap<Artifacts, BoundedCache<unknown>>();

/** Throws ArtifactUnreadable or ArtifactVersionUnknown; whatever the store throws passes through. */
export const readArtifact = async <Value>(
  { artifacts }: { readonly artifacts: Artifacts },
  { tenant, hash }: ArtifactAddress,
  shape: ArtifactShape<Value>,
): Promise<Value> => {
  if (shape.isShared !== true) return parseArtifact(shape, hash, await artifacts.getJson(tenant, hash));
  const values = kept.get(artifacts) ?? createBoundedCache<unknown>({ maxEntries: KEPT_VALUES });
  kept.set(artifacts, values);
  const key = `${shape.name} ${tenant} ${hash}`;
  const known = values.get(key);
  if (known !== undefined) return parseKept(shape, known);
  const value = freezeAll(parseArtifact(shape, hash, await artifacts.getJson(tenant, hash)));
  values.set(key, value);
  return value;
};

const freezeAll = <Value>(value: Value): Value => {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.values(value).forEach(freezeAll);
  return Object.freeze(value);
};

// Under the name of a shape is only what that shape has parsed.
const parseKept = <Value>(_shape: ArtifactShape<Value>, value: unknown): Value => value as Value;

export interface Content {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
}

/** The bytes as they are, whatever they say. */
export const readContent = async (
  store: Pick<ActivityDeps['store'], 'artifacts'>,
  { tenant, hash }: ArtifactAddress,
): Promise<Content> => {
  const content = await store.artifacts.get(tenant, hash);
  if (content === undefined)
    throw new ArtifactUnreadable({ shape: 'content', hash, field: '', expected: 'to be stored' });
  return content;
};

export const parseArtifact = <Value>(shape: ArtifactShape<Value>, hash: string, value: unknown): Value => {
  if (shape.versions.length > 0) assertKnownVersion(shape, hash, versionOf(value));
  const parsed = shape.schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = issue?.path.map(String).join('.') ?? '';
  throw new ArtifactUnreadable({ shape: shape.name, hash, field, expected: issue?.message ?? 'another shape' });
};

const versionOf = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && 'schemaVersion' in value ? value.schemaVersion : undefined;

const assertKnownVersion = (shape: ArtifactShape<unknown>, hash: string, version: unknown): void => {
  if (typeof version === 'number' && shape.versions.includes(version)) return;
  throw new ArtifactVersionUnknown({ shape: shape.name, hash, version, known: shape.versions });
};
