/** Blobs, immutable and addressed by what is in them. */
import { sql, type RawBuilder } from 'kysely';
import type { ArtifactHash, TenantId } from '../../workflows/contract/ids';
import type { Artifact } from '../artifact';
import { RowMissing } from '../errors';
import type { ArtifactStore } from '../store';
import type { Db, Session, Trx } from './connect';
import { canonicalJson, hashOf } from './json';

export interface Content {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
}

export const createArtifactStore = (session: Session): ArtifactStore => ({
  put: (tenant, content) => insertArtifact(session, session.db, { tenant, content }),
  putJson: (tenant, value) => insertArtifact(session, session.db, { tenant, content: encodeJson(value) }),
  draft: (_tenant, content) => toArtifact(content),
  draftJson: (_tenant, value) => toArtifact(encodeJson(value)),
  get: (tenant, hash) => getArtifact(session.db, tenant, hash),
  getJson: async (tenant, hash) => {
    const content = await getArtifact(session.db, tenant, hash);
    if (content === undefined) throw new RowMissing(`artifact ${hash}`);
    return parseJson(content.bytes);
  },
});

export const encodeJson = (value: object): Content => ({
  bytes: Buffer.from(canonicalJson(value)),
  mediaType: 'application/json',
});

const toArtifact = ({ bytes, mediaType }: Content): Artifact => ({ hash: hashOf(bytes), bytes, mediaType });

const toBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

/**
 * The part of a statement that stores artifacts, for a CTE. In order of their names: statements that store the same ones at
 * the same time wait for each other instead of crosswise.
 */
export const insertArtifactsOf = (
  { clock }: Pick<Session, 'clock'>,
  tenant: TenantId,
  artifacts: readonly Artifact[],
): RawBuilder<Record<string, never>> => {
  if (artifacts.length === 0) return sql`(select 1)`;
  const ordered = [...artifacts].sort((one, other) => (one.hash < other.hash ? -1 : 1));
  const rows = ordered.map(
    ({ hash, bytes, mediaType }) => sql`(${tenant}, ${hash}, ${mediaType}, ${toBuffer(bytes)}::bytea, ${clock.now()})`,
  );
  return sql`(
    insert into artifacts (tenant, hash, media_type, bytes, stored_at) values ${sql.join(rows)}
    on conflict (tenant, hash) do nothing)`;
};

export const parseJson = (bytes: Uint8Array): unknown => JSON.parse(Buffer.from(bytes).toString());

export const insertArtifact = async (
  { clock }: Session,
  db: Db | Trx,
  { tenant, content }: { readonly tenant: TenantId; readonly content: Content },
): Promise<ArtifactHash> => {
  const hash = hashOf(content.bytes);
  await db
    .insertInto('artifacts')
    .values({
      tenant,
      hash,
      media_type: content.mediaType,
      bytes: toBuffer(content.bytes),
      stored_at: clock.now(),
    })
    .onConflict((conflict) => conflict.columns(['tenant', 'hash']).doNothing())
    .execute();
  return hash;
};

const getArtifact = async (db: Db, tenant: TenantId, hash: ArtifactHash): Promise<Content | undefined> => {
  const row = await db
    .selectFrom('artifacts')
    .select(['bytes', 'media_type'])
    .where('tenant', '=', tenant)
    .where('hash', '=', hash)
    .executeTakeFirst();
  return row && { bytes: row.bytes, mediaType: row.media_type };
};
