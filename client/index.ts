/** What a service or script imports to start and follow runs. */
export type { ArtifactPart, FollowOptions, HoldfastClient } from './holdfast-client';
export { createDirectClient, type DirectParts } from './direct/direct-client';
export { createDirectParts, type DirectPartsOptions } from './direct/direct-parts';
export { createHttpClient, type HttpClientOptions } from './remote/http-client';
export { RunFeeds, type RunFeedsOptions } from './feed/run-feeds';
export { HoldfastError, type ClientErrorCode, type HoldfastErrorCode } from './errors';
export type { MessageReceiptView, MessageRequest, ResolutionView } from './schemas/change';
export type { DetailsView } from './schemas/details';
export type { EventPage, EventQuery, EventView, FeedItem } from './schemas/event';
export type { ResultView } from './schemas/result';
export type { ListedRunView, RunPage, RunQuery, RunView } from './schemas/run';
export type { SummaryQuery, SummaryView } from './schemas/summary';
export type { ListedWaitView, ReceiptView, ResponseRequest, WaitPage, WaitQuery, WaitView } from './schemas/wait';
export { Runs, type RunDetails, type RunsOptions } from './runs';
export type { Caller, StartRequest } from './start-request';
export { Waits, type Receipt, type WaitDetails, type WaitResponse, type WaitsOptions, type WaitSummary } from './waits';
export type { ShownOperation, ShownPlan } from './shown-plan';
