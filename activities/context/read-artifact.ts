/** Reads an artifact back and parses its shape; what was parsed is kept, since an artifact never changes. */
import type { ActivityDeps } from '../deps';
import type { ArtifactHash, TenantId } from '../../workflows/contract/ids';
import type { ArtifactShape } from './artifact-shapes';
import { ArtifactUnreadable, ArtifactVersionUnknown } from './errors';

export interface ArtifactAddress {
  readonly tenant: TenantId;
  readonly hash: ArtifactHash;
}

/** Throws ArtifactUnreadable or ArtifactVersionUnknown; whatever the store throws passes through. */
export const readArtifact = async <Value>(
  store: Pick<ActivityDeps['store'], 'artifacts'>,
  { tenant, hash }: ArtifactAddress,
  shape: ArtifactShape<Value>,
): Promise<Value> => parseArtifact(shape, hash, await store.artifacts.getJson(tenant, hash));

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
