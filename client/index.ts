/** What a service or script imports to start and follow runs. */
export { HoldfastError, type ClientErrorCode } from './errors';
export { Runs, type RunDetails, type RunsOptions } from './runs';
export type { Caller, StartRequest } from './start-request';
export { Waits, type Receipt, type WaitDetails, type WaitResponse, type WaitsOptions, type WaitSummary } from './waits';
export type { ShownOperation, ShownPlan } from './shown-plan';
