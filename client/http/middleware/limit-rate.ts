/** Refuses who asks too often before the request is looked at. */
import type { Context, MiddlewareHandler } from 'hono';
import { ProblemError } from '../problems/problem';
import { createRateLimit } from '../rate-limit';
import type { AppEnv } from '../service';

export interface RateLimitOptions {
  readonly perMinute: number;
  readonly keyOf: (c: Context<AppEnv>) => string;
}

export const limitRate = ({ perMinute, keyOf }: RateLimitOptions): MiddlewareHandler<AppEnv> => {
  const limit = createRateLimit(perMinute);
  return async (c, next) => {
    const retryAfter = await limit.take(keyOf(c));
    if (retryAfter !== undefined) {
      throw new ProblemError('rate.limited', `got more than ${perMinute} a minute`, {
        headers: { 'Retry-After': String(retryAfter) },
      });
    }
    await next();
  };
};
