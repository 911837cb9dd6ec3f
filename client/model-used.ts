/** Who answered for the model, from the candidate that was stored: the provider, or the scripted model that stands in. */
import { z } from 'zod';
import type { AttemptRow } from '../store/rows';
import type { Store } from '../store/store';
import { OFFLINE_REQUEST_PREFIX } from '../workflows/contract/offline-model';
import type { RunRef } from '../workflows/contract/records';

export interface ModelUsed {
  /** As the answer names it. */
  readonly model: string;
  /** True where the offline model server answered: nothing was asked of a real model. */
  readonly isScripted: boolean;
}

const CANDIDATE = z.object({ model: z.string(), requestId: z.string().optional() });

/** Undefined before the first answer. */
export const modelUsed = async (
  store: Pick<Store, 'artifacts'>,
  ref: RunRef,
  attempts: readonly Pick<AttemptRow, 'candidate'>[],
): Promise<ModelUsed | undefined> => {
  const hash = attempts.findLast(({ candidate }) => candidate !== undefined)?.candidate;
  if (hash === undefined) return undefined;
  const { model, requestId } = CANDIDATE.parse(await store.artifacts.getJson(ref.tenant, hash));
  return { model, isScripted: requestId?.startsWith(OFFLINE_REQUEST_PREFIX) ?? false };
};
