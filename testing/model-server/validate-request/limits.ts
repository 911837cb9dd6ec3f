/** Where the offline provider draws its lines. Each can be moved by whoever starts the server. */
export interface RequestLimits {
  /** Larger bodies get 413 `request_too_large`. */
  readonly maxBodyBytes: number;
  /** Larger prompts (by the estimate of `tokens.ts`) get 400 "prompt is too long". */
  readonly contextTokens: number;
  readonly maxOutputTokens: number;
  readonly maxMessages: number;
  /** Model ids that exist; others get 404. `undefined`: every non-empty id exists. */
  readonly models: readonly string[] | undefined;
  /**
   * Stricter than the provider, on purpose: results stand in the order of their calls, so that the same candidate gives
   * the same next request byte for byte.
   */
  readonly resultsInCallOrder: boolean;
}

export const DEFAULT_LIMITS: RequestLimits = {
  maxBodyBytes: 32 * 1024 * 1024,
  contextTokens: 200_000,
  maxOutputTokens: 128_000,
  maxMessages: 100_000,
  models: undefined,
  resultsInCallOrder: true,
};
