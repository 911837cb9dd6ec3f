/** Blobs, immutable and addressed by what is in them. */
import type { ArtifactHash, TenantId } from '../../workflows/contract/ids';
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

export const parseJson = (bytes: Uint8Array): unknown => JSON.parse(Buffer.from(bytes).toString());

export const insertArtifact = async (
  { clock }: Session,
  db: Db | Trx,
  { tenant, content }: { readonly tenant: TenantId; readonly content: Content },
): Promise<ArtifactHash> => {
  const { buffer, byteOffset, byteLength } = content.bytes;
  const hash = hashOf(content.bytes);
  await db
    .insertInto('artifacts')
    .values({
      tenant,
      hash,
      media_type: content.mediaType,
      bytes: Buffer.from(buffer, byteOffset, byteLength),
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
