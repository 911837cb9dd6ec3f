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

/** Read by Temporal's own library; listed here for the documents. */
export const TEMPORAL_SETTINGS: Readonly<Record<string, string>> = {
  TEMPORAL_ADDRESS:
    "Temporal's server, `localhost:7233` when absent. Commands use the development stack's where one runs.",
  TEMPORAL_NAMESPACE: '`default` when absent.',
  TEMPORAL_API_KEY: 'For Temporal Cloud.',
  TEMPORAL_PROFILE: 'Which profile of the configuration file holds.',
  TEMPORAL_CONFIG_FILE: 'A configuration file elsewhere than at its usual place.',
};

const NAMING = ['TEMPORAL_ADDRESS', 'TEMPORAL_PROFILE', 'TEMPORAL_CONFIG_FILE'] as const;

/** Whether somebody said where Temporal is, so that nothing else is to be guessed. */
export const isTemporalNamed = (): boolean =>
  NAMING.some((name) => process.env[name] !== undefined && process.env[name] !== '');
