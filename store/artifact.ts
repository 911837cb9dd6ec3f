import type { ArtifactHash } from '../workflows/contract/ids';

/**
 * Content under its name, which is not stored yet: whatever it is handed to stores it in the same statement as the row that
 * names it, so that neither is ever there without the other.
 */
export interface Artifact {
  readonly hash: ArtifactHash;
  readonly bytes: Uint8Array;
  readonly mediaType: string;
}
