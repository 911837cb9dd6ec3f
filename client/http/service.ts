/** What the service is made of, and the shape of its requests' context. */
import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Hono } from 'hono';
import type { Logger } from 'pino';
import type { DirectParts } from '../direct/direct-client';
import type { HoldfastClient } from '../holdfast-client';
import type { VerifiedCaller, VerifyToken } from './auth/verify-token';
import type { Metrics } from './metrics';

export interface ServiceLimits {
  readonly maxBodyBytes: number;
  readonly requestTimeoutMs: number;
  readonly heartbeatMs: number;
  /** Streams of events that are open at once, in this process. */
  readonly maxFollowers: number;
  /** Of one subject, in this process. */
  readonly responsesPerMinute: number;
  /** Rightly signed, for one operation, in this process. */
  readonly callbacksPerMinute: number;
  /** Not rightly signed, from one address, in this process. */
  readonly forgedCallbacksPerMinute: number;
}

export const DEFAULT_SERVICE_LIMITS: ServiceLimits = Object.freeze({
  maxBodyBytes: 262_144,
  requestTimeoutMs: 20_000,
  heartbeatMs: 15_000,
  maxFollowers: 500,
  responsesPerMinute: 120,
  callbacksPerMinute: 120,
  forgedCallbacksPerMinute: 60,
});

export interface ServiceDeps {
  readonly parts: DirectParts;
  readonly verifyToken: VerifyToken;
  readonly log: Logger;
  /** Aborted when the service is being stopped: streams end, and their followers come back to another instance. */
  readonly closing: AbortSignal;
  readonly isEngineThere: () => Promise<boolean>;
  readonly limits?: Partial<ServiceLimits>;
  /** Whether browsers reach the page by TLS alone, as they do unless this is development. */
  readonly isPageSecure?: boolean;
  /** Receives reports of tools, below /v1/callbacks. */
  readonly callbacks?: Hono;
}

export interface Service extends Omit<ServiceDeps, 'limits' | 'isPageSecure'> {
  readonly limits: ServiceLimits;
  readonly isPageSecure: boolean;
  readonly metrics: Metrics;
  /** Streams of events that are open. */
  readonly streams: Set<unknown>;
}

export interface AppEnv {
  Variables: {
    readonly service: Service;
    readonly requestId: string;
    /** Set behind authentication. */
    readonly caller: VerifiedCaller;
    readonly client: HoldfastClient;
  };
}

export type App = OpenAPIHono<AppEnv>;
