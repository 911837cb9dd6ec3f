/** Reserves what an attempt may cost, in the transaction that opens its row: nothing is asked that the run cannot pay. */
import type { AttemptRow } from '../../store/rows';
import type { AttemptStore } from '../../store/store';
import type { AttemptInput } from '../../workflows/contract/activities';
import { tokensOf, type Totals } from '../../workflows/machine/ledger';
import type { ModelRequest } from './model-request';
import { outputTokensFor, reservationOf } from './usage';

export type OpenedAttempt =
  /** `maxOutputTokens` is what was reserved. */
  | {
      readonly kind: 'opened';
      readonly row: AttemptRow;
      readonly isNew: boolean;
      readonly totals: Totals;
      readonly maxOutputTokens: number;
    }
  | { readonly kind: 'budgetSpent'; readonly budget: 'tokens' | 'cost'; readonly totals: Totals }
  | { readonly kind: 'cancelRequested'; readonly totals: Totals };

/** With less room than this no answer can be finished. */
const MIN_OUTPUT_TOKENS = 256;

/** With all the room that the attempt wants; where that does not fit, with what the budget leaves. */
export const openAttempt = async (
  attempts: AttemptStore,
  input: AttemptInput,
  request: ModelRequest,
): Promise<OpenedAttempt> => {
  const wanted = request.maxOutputTokens * 2 ** (input.truncations ?? 0);
  const opened = await reserve(attempts, input, { request, maxOutputTokens: wanted });
  if (opened.kind !== 'budgetSpent') return opened;
  const affordable = Math.min(wanted, affordableOutput(request, opened.totals));
  if (affordable < minOutputTokens(request)) return opened;
  return reserve(attempts, input, { request, maxOutputTokens: affordable });
};

/** Thinking is taken from the same room, and the provider wants more room than thinking may take. */
const minOutputTokens = ({ thinking }: ModelRequest): number =>
  MIN_OUTPUT_TOKENS + (thinking?.type === 'enabled' ? thinking.budget_tokens : 0);

const affordableOutput = (request: ModelRequest, totals: Totals): number => {
  const { maxTokens, maxCostMicros } = request.limits;
  const byTokens = maxTokens - tokensOf(totals) - request.estimateInputTokens;
  return Math.min(byTokens, outputTokensFor(request, maxCostMicros - totals.costMicros));
};

const reserve = async (
  attempts: AttemptStore,
  { ref, events, step, attempt, context }: AttemptInput,
  { request, maxOutputTokens }: { readonly request: ModelRequest; readonly maxOutputTokens: number },
): Promise<OpenedAttempt> => {
  const { maxTokens, maxCostMicros } = request.limits;
  const reservation = reservationOf(request, maxOutputTokens);
  const limits = { maxTokens, maxCostMicros };
  const opened = await attempts.open({ ref, events }, { step, attempt, context, reservation, limits });
  return opened.kind === 'opened' ? { ...opened, maxOutputTokens } : opened;
};
