/** Wires what a process of the service needs, on a store and a connection to Temporal that it is given. */
import type { Logger } from 'pino';
import { SIGNALS, type ToolEventSignal } from '../../workflows/contract/messages';
import { createDirectParts, type DirectPartsOptions } from '../direct/direct-parts';
import { createTokenVerifier, type TokenSettings } from './auth/verify-token';
import { createCallbackReceiver } from './callbacks/create-callback-receiver';
import { DEFAULT_SERVICE_LIMITS, type ServiceDeps, type ServiceLimits } from './service';

export interface ServiceParts extends DirectPartsOptions {
  readonly log: Logger;
  /** Aborted when the service is being stopped. */
  readonly closing: AbortSignal;
  readonly tokens: TokenSettings;
  /** Keys of callbacks, decoded; without any no callbacks are taken. */
  readonly callbackSecrets?: readonly Uint8Array[];
  readonly limits?: Partial<ServiceLimits>;
}

export const createService = (parts: ServiceParts): ServiceDeps => {
  const { store, temporal, log, closing, tokens, callbackSecrets = [], limits } = parts;
  return {
    parts: createDirectParts(parts),
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
            limits: { ...DEFAULT_SERVICE_LIMITS, ...limits },
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
