/** What the planner decides to do next, and how a model says it. */
import type { Json, JsonObject } from '../../../index';
import { text, thinking, toolUse, turn, type Turn } from '../../../testing';

export interface Claim {
  readonly text: string;
  readonly evidence: readonly string[];
  readonly asserts?: readonly { readonly object: string; readonly field: string; readonly value: Json }[];
}

export interface PlannedCall {
  readonly tool: string;
  readonly input: JsonObject;
}

export type Move = {
  /** Thought before it is said; kept apart from the answer by the provider. */
  readonly think?: string;
  /** A sentence before the call. */
  readonly say?: string;
} & (
  | { readonly kind: 'calls'; readonly calls: readonly PlannedCall[] }
  | {
      readonly kind: 'finish';
      readonly outcome: 'done' | 'cannot';
      readonly answer: string;
      readonly claims: readonly Claim[];
    }
  | { readonly kind: 'ask'; readonly question: string; readonly responseSchema: JsonObject }
  | { readonly kind: 'analyse'; readonly gap: string; readonly notes: string }
);

export const call = (tool: string, input: JsonObject): PlannedCall => ({ tool, input });

export const toTurn = (move: Move): Turn =>
  turn([
    ...(move.think === undefined ? [] : [thinking(move.think)]),
    ...(move.say === undefined ? [] : [text(move.say)]),
    ...usesOf(move).map(({ tool, input }) => toolUse(tool, input)),
  ]);

const usesOf = (move: Move): readonly PlannedCall[] => {
  switch (move.kind) {
    case 'calls':
      return move.calls;
    case 'finish':
      return [call('finish', { outcome: move.outcome, answer: move.answer, claims: move.claims.map(toJson) })];
    case 'ask':
      return [call('ask_user', { question: move.question, responseSchema: move.responseSchema })];
    case 'analyse':
      return [call('analyse', { gap: move.gap, notes: move.notes })];
  }
};

const toJson = ({ text: words, evidence, asserts }: Claim): JsonObject => ({
  text: words,
  evidence,
  ...(asserts === undefined ? {} : { asserts: asserts.map((each) => ({ ...each })) }),
});
