/** The client on the store and on Temporal themselves. */
import type { AfterEnd } from '../after-end';
import type { RunFeeds } from '../feed/run-feeds';
import type { HoldfastClient } from '../holdfast-client';
import type { Runs } from '../runs';
import type { Store } from '../../store/store';
import type { Caller } from '../start-request';
import type { Waits } from '../waits';
import { resolve, sendMessage } from './change-run';
import { followRun } from './follow-run';
import { readArtifact } from './read-artifact';
import { listRuns, readDetails, readEvents, readResult, readSnapshot } from './read-run';
import { readSummary } from './read-summary';
import { listWaits, readWait, respondTo } from './waits';

/** What all callers of one process share. */
export interface DirectParts {
  readonly store: Store;
  readonly runs: Runs;
  readonly waits: Waits;
  readonly afterEnd: AfterEnd;
  readonly feeds: RunFeeds;
}

/** What one caller's requests are answered with. */
export interface Scope extends DirectParts {
  readonly caller: Caller;
}

/** Costs nothing to make: one for each request will do. */
export const createDirectClient = (parts: DirectParts, caller: Caller): HoldfastClient => {
  const scope: Scope = { ...parts, caller };
  return {
    start: async (request, options = {}) => {
      const row = await parts.runs.start(caller, request, options);
      return readSnapshot(scope, row.ref.run);
    },
    snapshot: (run) => readSnapshot(scope, run),
    details: (run) => readDetails(scope, run),
    list: (query = {}) => listRuns(scope, query),
    events: (run, page = {}) => readEvents(scope, run, page),
    follow: (run, options = {}) => followRun(scope, run, options),
    result: (run) => readResult(scope, run),
    artifact: (run, hash, part = {}) => readArtifact(scope, { run, hash }, part),
    waits: (query = {}) => listWaits(scope, query),
    wait: (wait) => readWait(scope, wait),
    respond: (run, response) => respondTo(scope, run, response),
    message: (run, message) => sendMessage(scope, run, message),
    cancel: async (run) => {
      await parts.runs.cancel(caller.tenant, run);
    },
    resolve: (run, request) => resolve(scope, run, request),
    reopen: async (run, request = {}) => {
      const row = await parts.afterEnd.reopen(caller, run, request);
      return readSnapshot(scope, row.ref.run);
    },
    summary: (query = {}) => readSummary(scope, query),
  };
};
