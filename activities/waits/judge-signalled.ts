/**
 * A whole response that came as a raw signal. A signal says nothing about who sent it, so whatever it claims of its sender is
 * left out: the token of the wait is what makes it count, and in the journal it is the response of `signal`.
 */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { idBy } from '../../definition/id-schema';
import { respond } from '../../responses/respond';
import type { Principal } from '../../store/rows';
import type { RegularActivities } from '../../workflows/contract/activities';
import { parseWaitId, runOfWait } from '../../workflows/contract/ids';
import type { Json } from '../../workflows/contract/json';
import type { ActivityDeps } from '../deps';

const SIGNAL: Principal = { subject: 'signal', roles: [] };
const KEY_BYTES = 32;
const json: z.ZodType<Json> = z.json();

/** Anybody who reaches the workflow may have written it. */
const SIGNALLED = z.object({
  wait: idBy(parseWaitId),
  response: z.object({
    id: z.string().regex(/^[\x21-\x7e]{1,200}$/),
    body: json,
    token: z.string().max(1_000),
  }),
});

type Input = Parameters<RegularActivities['judgeSignalled']>[0];

/** Where this worker has no key, no token is right. */
export const judgeSignalled = async (
  deps: Pick<ActivityDeps, 'store' | 'registry' | 'tokenKey' | 'log'>,
  { ref, signal }: Input,
): ReturnType<RegularActivities['judgeSignalled']> => {
  const { store, registry, tokenKey = randomBytes(KEY_BYTES), log } = deps;
  const parsed = SIGNALLED.safeParse(signal);
  if (!parsed.success || runOfWait(parsed.data.wait) !== ref.run) {
    log.warn({ run: ref.run }, 'a signal was no response to a wait of this run');
    return { verdict: 'signal.invalid' };
  }
  const { wait, response } = parsed.data;
  const receipt = await respond({ store, agents: registry, tokenKey }, ref, { ...response, wait, principal: SIGNAL });
  if (receipt === undefined) return { verdict: 'wait.not_found' };
  const { verdict } = receipt;
  return { verdict: verdict.kind === 'accepted' ? 'accepted' : verdict.code };
};
