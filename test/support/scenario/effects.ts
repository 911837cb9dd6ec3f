/** What really happened, as the desk counts it. */
import type { Stage } from './stage';

export interface Seen {
  readonly kind: string;
  readonly ticket: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** Every effect of the desk, oldest first, without its ids, times and reasons. */
export const effectsOf = async ({ desk }: Stage): Promise<readonly Seen[]> =>
  (await desk.effects()).map(({ kind, ticket, args }) => {
    const { reason: _reason, ...rest }: Record<string, unknown> = { ...args };
    return { kind, ticket, args: rest };
  });

/** How often a write of this kind was sent. */
export const sendsOf = async ({ desk }: Stage, kind: 'reassign' | 'comments' | 'close'): Promise<number> =>
  (await desk.requests()).filter(({ method, path }) => method === 'POST' && path.endsWith(`/${kind}`)).length;
