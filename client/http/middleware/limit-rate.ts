/** How often the same one may ask for the same kind of thing. Counted in this process: it stops floods, it is no quota. */
import type { Context, MiddlewareHandler } from 'hono';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { ProblemError } from '../problems/problem';
import type { AppEnv } from '../service';

export interface RateLimit {
  readonly perMinute: number;
  readonly keyOf: (c: Context<AppEnv>) => string;
}

export const limitRate = ({ perMinute, keyOf }: RateLimit): MiddlewareHandler<AppEnv> => {
  const limiter = new RateLimiterMemory({ points: perMinute, duration: 60 });
  return async (c, next) => {
    try {
      await limiter.consume(keyOf(c));
    } catch (refusal) {
      throw toProblem(refusal, perMinute);
    }
    await next();
  };
};

const toProblem = (refusal: unknown, perMinute: number): unknown => {
  if (!(refusal instanceof RateLimiterRes)) return refusal;
  const seconds = Math.max(1, Math.ceil(refusal.msBeforeNext / 1000));
  return new ProblemError('rate.limited', `got more than ${perMinute} a minute`, {
    headers: { 'Retry-After': String(seconds) },
  });
};
