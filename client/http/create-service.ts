/** Wires what a process of the service needs, on a store and a connection to Temporal that it is given. */
import type { Logger } from 'pino';
import type { AgentRegistry } from '../../definition/registry';
import type { StartTarget } from '../../relays/start-workflow';
import type { TokenKey } from '../../responses/token';
import type { Store } from '../../store/store';
import { SIGNALS, type ToolEventSignal } from '../../workflows/contract/messages';
import { AfterEnd } from '../after-end';
import { RunFeeds } from '../feed/run-feeds';
import { Runs } from '../runs';
import { Waits } from '../waits';
import { createTokenVerifier, type TokenSettings } from './auth/verify-token';
import { createCallbackReceiver } from './callbacks/create-callback-receiver';
import type { ServiceDeps, ServiceLimits } from './service';

export interface ServiceParts extends StartTarget {
  readonly store: Store;
  readonly log: Logger;
  /** Aborted when the service is being stopped. */
  readonly closing: AbortSignal;
  readonly tokens: TokenSettings;
  /** Whose policies say who may answer and resolve; without any, all such requests are refused. */
  readonly agents?: AgentRegistry;
  /** Of the tokens of waits: the same in every process that shows or judges them. */
  readonly tokenKey?: TokenKey;
  /** Keys of callbacks, decoded; without any no callbacks are taken. */
  readonly callbackSecrets?: readonly Uint8Array[];
  readonly feeds?: RunFeeds;
  readonly limits?: Partial<ServiceLimits>;
}

export const createService = (parts: ServiceParts): ServiceDeps => {
  const { store, temporal, taskQueue, log, closing, tokens, agents, tokenKey, callbackSecrets = [], limits } = parts;
  const judging = { store, temporal, ...(agents === undefined ? {} : { agents }) };
  return {
    parts: {
      store,
      runs: new Runs({ store, temporal, taskQueue }),
      waits: new Waits({ ...judging, ...(tokenKey === undefined ? {} : { tokenKey }) }),
      afterEnd: new AfterEnd({ ...judging, taskQueue }),
      feeds: parts.feeds ?? new RunFeeds({ store, log }),
    },
    verifyToken: createTokenVerifier(tokens),
    log,
    closing,
    // Tokens of development are for this machine, which has no TLS.
    isPageSecure: tokens.jwksUrl !== undefined,
    isEngineThere: () => isEngineThere(parts),
    ...(limits === undefined ? {} : { limits }),
    ...(callbackSecrets.length === 0
      ? {}
      : {
          callbacks: createCallbackReceiver({
            store,
            secrets: callbackSecrets,
            log,
            signal: async ({ run }, operation) => {
              const event: ToolEventSignal = { operation };
              await temporal.workflow.getHandle(run).signal(SIGNALS.toolEvent, event);
            },
          }),
        }),
  };
};

const ENGINE_TIMEOUT_MS = 2_000;

const isEngineThere = async ({ temporal }: Pick<ServiceParts, 'temporal'>): Promise<boolean> => {
  try {
    const { connection } = temporal;
    await connection.withDeadline(Date.now() + ENGINE_TIMEOUT_MS, () => connection.workflowService.getSystemInfo({}));
    return true;
  } catch {
    return false;
  }
};
