/** What a live viewer is told while the model writes: text alone; thinking and arguments are never in it. */
import type { RunId, TenantId } from '../../workflows/contract/ids';

interface OfAttempt {
  readonly tenant: TenantId;
  readonly run: RunId;
  readonly step: number;
  readonly attempt: number;
}

export type LiveText =
  /** Whatever an earlier attempt of the step has shown is void. Comes first in every attempt. */
  | ({ readonly kind: 'reset' } & OfAttempt)
  /** `index` counts 0, 1, 2… within the attempt. */
  | ({ readonly kind: 'text'; readonly index: number; readonly text: string } & OfAttempt)
  /** It has its end in the store: what has not been shown yet is read in its candidate. */
  | ({ readonly kind: 'ended' } & OfAttempt);

/** Called in order and not waited for. What it throws is logged and changes nothing. */
export type OnText = (text: LiveText) => void;
