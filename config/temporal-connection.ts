/** Where Temporal is: its own variables and profile file, read by its own library. */
import { loadClientConnectConfig } from '@temporalio/envconfig';

export interface TemporalAddress {
  readonly address: string;
  readonly namespace: string;
  readonly apiKey?: string;
  readonly tls?: NonNullable<ReturnType<typeof loadClientConnectConfig>['connectionOptions']['tls']>;
  readonly metadata?: NonNullable<ReturnType<typeof loadClientConnectConfig>['connectionOptions']['metadata']>;
}

/** TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_API_KEY, TLS and profile: see Temporal's environment configuration. */
export const loadTemporalAddress = (): TemporalAddress => {
  const { connectionOptions, namespace } = loadClientConnectConfig();
  const { address, apiKey, tls, metadata } = connectionOptions;
  return {
    address: address ?? 'localhost:7233',
    namespace: namespace ?? 'default',
    ...(typeof apiKey === 'string' ? { apiKey } : {}),
    ...(tls === undefined || tls === null ? {} : { tls }),
    ...(metadata === undefined ? {} : { metadata }),
  };
};

const NAMING = ['TEMPORAL_ADDRESS', 'TEMPORAL_PROFILE', 'TEMPORAL_CONFIG_FILE'] as const;

/** Whether somebody said where Temporal is, so that nothing else is to be guessed. */
export const isTemporalNamed = (): boolean =>
  NAMING.some((name) => process.env[name] !== undefined && process.env[name] !== '');
