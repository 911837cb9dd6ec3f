/** Artifacts through the run that names them: a hash alone opens nothing. */
import { z } from 'zod';
import { HoldfastError } from '../errors';
import type { ArtifactPart } from '../holdfast-client';
import { parseInput } from '../parse-input';
import { parseArtifactHash } from '../../workflows/contract/ids';
import type { Scope } from './direct-client';
import { readRun } from './read-run';

export const MAX_PART_BYTES = 1_048_576;

const PART = z.object({
  offset: z.int().min(0).max(2_147_483_000).default(0),
  limit: z.int().min(1).max(MAX_PART_BYTES).default(MAX_PART_BYTES),
});

export const readArtifact = async (
  scope: Scope,
  { run, hash }: { readonly run: string; readonly hash: string },
  part: z.input<typeof PART>,
): Promise<ArtifactPart> => {
  const asked = parseInput(PART, part);
  const artifact = parseArtifactHash(hash);
  const { row } = await readRun(scope, run);
  const { reader } = scope.store;
  const isOwn = await reader.names(row.ref, artifact);
  const found = isOwn ? await reader.artifactPart(row.ref.tenant, artifact, asked) : undefined;
  if (found === undefined) {
    throw new HoldfastError('artifact.not_found', `artifact: got ${hash}, expected one that ${run} names`);
  }
  return found;
};
