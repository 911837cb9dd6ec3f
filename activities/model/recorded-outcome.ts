/** What an attempt's row says became of it: written once, and what everyone who asks again is told. */
import { z } from 'zod';
import type { AttemptRow } from '../../store/rows';
import type { AttemptOutcome } from '../../workflows/contract/activities';
import { parseArtifactHash, type ArtifactHash } from '../../workflows/contract/ids';
import type { JsonObject } from '../../workflows/contract/json';
import type { Totals } from '../../workflows/machine/ledger';
import type { EndVerdict } from './classify-end';

/** An outcome as a row keeps it: the totals are those of the moment in which it is read. */
export type RecordedOutcome = Untotalled<Exclude<AttemptOutcome, { kind: 'attemptLost' | 'budgetSpent' }>>;
type Untotalled<Outcome> = Outcome extends AttemptOutcome ? Omit<Outcome, 'totals'> : never;

/** Our own bug: a candidate that counts is stored before its attempt ends. */
export class CandidateMissing extends Error {
  readonly code = 'attempt.candidate_missing';
  readonly isRetryable = false;
  constructor(readonly verdict: string) {
    super(`candidate: got none, expected the artifact that ${verdict} names`);
    this.name = 'CandidateMissing';
  }
}

export const toRecordedOutcome = (verdict: EndVerdict, candidate: ArtifactHash | undefined): RecordedOutcome => {
  switch (verdict.kind) {
    case 'candidateStored':
    case 'attemptTruncated':
    case 'attemptPaused':
      if (candidate === undefined) throw new CandidateMissing(verdict.kind);
      return { kind: verdict.kind, candidate };
    default:
      return verdict;
  }
};

export const outcomeToJson = (outcome: RecordedOutcome): JsonObject => ({ ...outcome });

const candidate = z.string().transform(parseArtifactHash);
const code = z.string();

const schema: z.ZodType<RecordedOutcome> = z.discriminatedUnion('kind', [
  z.object({ kind: z.enum(['candidateStored', 'attemptTruncated', 'attemptPaused']), candidate }),
  z.object({ kind: z.literal('attemptFailed'), code, retryAfterMs: z.exactOptional(z.number()) }),
  z.object({ kind: z.literal('contextTooLong') }),
  z.object({ kind: z.enum(['providerRejected', 'modelRefused']), code }),
]);

/** Of a row that is not OPEN. */
export const readOutcome = (row: AttemptRow, totals: Totals): AttemptOutcome =>
  row.state === 'LOST' ? { kind: 'attemptLost', totals } : { ...schema.parse(row.outcome), totals };
