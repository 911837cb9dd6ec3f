/** Why a response is refused: in the order in which it is asked, each with its own code. docs/waits.md explains them. */
import type { ResponseJudgement } from '../store/rows';
import type { JsonObject } from '../workflows/contract/json';

export const RESPONSE_REFUSALS = [
  'response.run_ended',
  'response.plan_changed',
  'response.wait_void',
  'response.already_decided',
  'response.expired',
  'response.state_changed',
  'response.token_invalid',
  'response.too_large',
  'response.invalid',
  'response.agent_unknown',
  'response.not_permitted',
  'response.edit_invalid',
  'response.edit_not_permitted',
  /** By the store: the id was used for another response. */
  'response.id_taken',
] as const;
export type ResponseRefusal = (typeof RESPONSE_REFUSALS)[number];

export type Refused = Extract<ResponseJudgement, { kind: 'refused' }>;

export const refuse = (code: ResponseRefusal, message: string, evidence: JsonObject = {}): Refused => ({
  kind: 'refused',
  code,
  message,
  evidence,
});
