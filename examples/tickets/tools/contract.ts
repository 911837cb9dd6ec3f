/**
 * What a write may rely on when its receipt is lost. The desk dedupes by key and can be asked by key; the other contracts
 * declare less than it offers, as a tool for a poorer system would have to.
 */
import type { LookUpContext, LookUpResult } from '../../../index';

export const WRITE_CONTRACTS = ['key and look-up', 'key only', 'look-up only', 'neither'] as const;
export type WriteContract = (typeof WRITE_CONTRACTS)[number];

export interface WriteTimes {
  /** How long a sender waits for its answer. */
  readonly timeoutMs: number;
  /** How long after that an effect may still turn up. */
  readonly settleWindowMs: number;
  readonly keyRetentionMs: number;
  readonly pollEveryMs: number;
  readonly pollLimitMs: number;
  /** How often the desk is asked about one send. */
  readonly maxLookUps: number;
}

export const DEFAULT_WRITE_TIMES: WriteTimes = {
  timeoutMs: 3_000,
  settleWindowMs: 1_000,
  keyRetentionMs: 24 * 60 * 60_000,
  pollEveryMs: 2_000,
  pollLimitMs: 60 * 60_000,
  maxLookUps: 8,
};

type Reconcile<Input, Output> = (input: Input, context: LookUpContext) => Promise<LookUpResult<Output>>;

interface Declared<Input, Output> {
  readonly idempotency: 'key' | 'none';
  readonly keyRetentionMs?: number;
  readonly reconcile?: Reconcile<Input, Output>;
  readonly settleWindowMs?: number;
  readonly maxLookUps?: number;
  readonly lookupIsAuthoritative?: boolean;
}

/** The declaration that goes with a contract, as the fields of `defineTool`. */
export const declareContract = <Input, Output>(
  contract: WriteContract,
  { keyRetentionMs, settleWindowMs, maxLookUps }: WriteTimes,
  reconcile: Reconcile<Input, Output>,
): Declared<Input, Output> => {
  switch (contract) {
    case 'key and look-up':
      return { idempotency: 'key', keyRetentionMs, reconcile, settleWindowMs, maxLookUps, lookupIsAuthoritative: true };
    case 'key only':
      return { idempotency: 'key', keyRetentionMs };
    case 'look-up only':
      // Such a system's look-up is a search of what it has shown so far: what is missing there may still come.
      return { idempotency: 'none', reconcile, settleWindowMs, maxLookUps, lookupIsAuthoritative: false };
    case 'neither':
      return { idempotency: 'none' };
  }
};

/** Whether the key goes out: as what the desk dedupes by, or as the name by which it can be asked later. */
export const sendsKey = (contract: WriteContract): boolean => contract !== 'neither';
