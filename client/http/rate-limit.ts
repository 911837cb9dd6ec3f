/** How often the same one may do the same kind of thing. Counted in this process: it stops floods, it is no quota. */
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';

export interface RateLimit {
  readonly perMinute: number;
  /** Undefined where it may; else in how many seconds it may again. */
  take(key: string): Promise<number | undefined>;
}

export const createRateLimit = (perMinute: number): RateLimit => {
  const limiter = new RateLimiterMemory({ points: perMinute, duration: 60 });
  return {
    perMinute,
    take: async (key) => {
      try {
        await limiter.consume(key);
        return undefined;
      } catch (refusal) {
        if (!(refusal instanceof RateLimiterRes)) throw refusal;
        return Math.max(1, Math.ceil(refusal.msBeforeNext / 1000));
      }
    },
  };
};
