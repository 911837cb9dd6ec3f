/** Bearer tokens of a suite's callers. */
import { createHttpClient, type HoldfastClient } from '../../client';
import { signToken } from '../../client/http/auth/verify-token';
import type { BenchStack } from './bench-stack';

const LIFETIME_MS = 3_600_000;

export interface BenchCaller {
  readonly tenant: string;
  /** Each may answer so often a minute: many answers have many subjects. */
  readonly subject: string;
}

export const tokenFor = ({ tokenSecret }: Pick<BenchStack, 'tokenSecret'>, caller: BenchCaller): Promise<string> =>
  signToken(
    { secret: tokenSecret },
    { ...caller, roles: ['operator', 'approver', 'viewer'] },
    new Date(Date.now() + LIFETIME_MS),
  );

export const clientFor = async (
  stack: Pick<BenchStack, 'tokenSecret'>,
  baseUrl: string,
  caller: BenchCaller,
): Promise<HoldfastClient> => createHttpClient({ baseUrl, token: await tokenFor(stack, caller) });
