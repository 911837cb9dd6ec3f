/**
 * What a service or script does with runs, for one caller. Two implementations: `createDirectClient` works on the store and
 * on Temporal, `createHttpClient` speaks to `holdfast serve`. Both throw HoldfastError with the same codes.
 */
import type { EventPage, EventQuery, FeedItem } from './schemas/event';
import type { DetailsView } from './schemas/details';
import type { ResultView } from './schemas/result';
import type { RunPage, RunQuery, RunView } from './schemas/run';
import type { SummaryQuery, SummaryView } from './schemas/summary';
import type { ReceiptView, ResponseRequest, WaitPage, WaitQuery, WaitView } from './schemas/wait';
import type { MessageReceiptView, MessageRequest, ResolutionView } from './schemas/change';
import type { ReopenRequest } from './reopen';
import type { ResolveRequest } from './resolve';
import type { StartRequest } from './start-request';

export interface ArtifactPart {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
  /** Of the whole artifact. */
  readonly sizeBytes: number;
}

export interface FollowOptions {
  /** Position of the last line that is known; 0 or absent: from the start. */
  readonly after?: number;
  readonly signal?: AbortSignal;
}

export interface HoldfastClient {
  /** The same key and body give the same run; another body under the key is `run.body_differs`. */
  start(request: StartRequest, options?: { readonly idempotencyKey?: string }): Promise<RunView>;
  /** As its row says, which is what has been recorded. Throws `run.not_found`. */
  snapshot(run: string): Promise<RunView>;
  details(run: string): Promise<DetailsView>;
  /** Newest first. */
  list(query?: RunQuery): Promise<RunPage>;
  events(run: string, page?: EventQuery): Promise<EventPage>;
  /** To the end of the run; an `end` item is the last one. */
  follow(run: string, options?: FollowOptions): AsyncIterable<FeedItem>;
  /** Undefined until the run has ended; from then on its newest version. */
  result(run: string): Promise<ResultView | undefined>;
  /** A part of an artifact that a record of the run names; else `artifact.not_found`. */
  artifact(
    run: string,
    hash: string,
    part?: { readonly offset?: number; readonly limit?: number },
  ): Promise<ArtifactPart>;
  /** Oldest first. */
  waits(query?: WaitQuery): Promise<WaitPage>;
  wait(wait: string): Promise<WaitView>;
  /** Throws the refusal with its own code (`response.…`); a refused response is kept in the journal all the same. */
  respond(run: string, response: ResponseRequest): Promise<ReceiptView>;
  /** `amend`, `withdraw` or `new_goal`; whatever is no response to a wait. Its id makes a repeated call the same message. */
  message(run: string, message: MessageRequest): Promise<MessageReceiptView>;
  /** Nothing new is sent from then on. Idempotent. Throws `run.ended` where there is nothing to cancel. */
  cancel(run: string): Promise<void>;
  /** After the end: what a person found out about an operation that nobody could prove. Throws `resolve.…`. */
  resolve(run: string, request: ResolveRequest): Promise<ResolutionView>;
  /** Goes on in another run, with the facts, operations and account of this one. Throws `reopen.…`. */
  reopen(run: string, request?: ReopenRequest): Promise<RunView>;
  summary(query?: SummaryQuery): Promise<SummaryView>;
}
