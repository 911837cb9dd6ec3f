/** Following a run in this process. */
import type { FollowOptions } from '../holdfast-client';
import type { FeedItem } from '../schemas/event';
import type { Scope } from './direct-client';
import { readRun } from './read-run';

export async function* followRun(
  scope: Scope,
  run: string,
  { after = 0, signal = new AbortController().signal }: FollowOptions,
): AsyncGenerator<FeedItem, void> {
  const start = await readRun(scope, run);
  yield* scope.feeds.follow(start, { after, signal });
}
