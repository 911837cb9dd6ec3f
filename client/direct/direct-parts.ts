/** What all callers of one process share, made once; see `createDirectClient`. */
import type { Logger } from 'pino';
import type { AgentRegistry } from '../../definition/registry';
import type { StartTarget } from '../../relays/start-workflow';
import type { TokenKey } from '../../responses/token';
import type { Store } from '../../store/store';
import { AfterEnd } from '../after-end';
import { RunFeeds } from '../feed/run-feeds';
import { Runs } from '../runs';
import { Waits } from '../waits';
import type { DirectParts } from './direct-client';

export interface DirectPartsOptions extends StartTarget {
  readonly store: Store;
  /**
   * Made by `compileAgents`. Whose policies say who may answer and resolve; without any, all such requests are refused. With
   * some, runs of other agents are not started here.
   */
  readonly agents?: AgentRegistry;
  /** Of the tokens of waits: the same in every process that shows or judges them. */
  readonly tokenKey?: TokenKey;
  readonly feeds?: RunFeeds;
  readonly log?: Logger;
}

/** Opens nothing: store and connection are the caller's, who closes them. */
export const createDirectParts = (options: DirectPartsOptions): DirectParts => {
  const { store, temporal, agents, tokenKey, feeds, log, ...target } = options;
  const judging = { store, temporal, ...(agents === undefined ? {} : { agents }) };
  return {
    store,
    runs: new Runs({ ...target, ...judging }),
    waits: new Waits({ ...judging, ...(tokenKey === undefined ? {} : { tokenKey }) }),
    afterEnd: new AfterEnd({ ...target, ...judging }),
    feeds: feeds ?? new RunFeeds({ store, ...(log === undefined ? {} : { log }) }),
  };
};
