/** Runs validators and notes what each decided, in order. */
import type { JsonObject } from '../../workflows/contract/json';
import type { Judgement, Stopped, Validator } from './judgement';

/** A decision without its coordinates. */
export interface Decision {
  /** Of the call judged, 0 for the candidate as a whole. */
  readonly ordinal: number;
  readonly validator: string;
  readonly version: string;
  readonly verdict: 'pass' | 'fail' | 'ask';
  readonly code?: string;
  readonly evidence: JsonObject;
}

export interface DecisionLog {
  readonly decisions: readonly Decision[];
  readonly run: <Input, Value>(ordinal: number, validator: Validator<Input, Value>, input: Input) => Judgement<Value>;
}

export const createDecisionLog = (before: readonly Decision[] = []): DecisionLog => {
  const decisions = [...before];
  return {
    decisions,
    run: (ordinal, validator, input) => {
      const judgement = validator.judge(input);
      const { evidence = {}, version = validator.version } = judgement;
      decisions.push({ ordinal, validator: validator.name, version, evidence, ...verdictOf(judgement) });
      return judgement;
    },
  };
};

const verdictOf = (judgement: Judgement<unknown>): Pick<Decision, 'verdict' | 'code'> => {
  if (judgement.kind === 'pass') return { verdict: judgement.asks === undefined ? 'pass' : 'ask' };
  return { verdict: 'fail', code: codeOf(judgement) };
};

const codeOf = (stopped: Stopped): string => {
  switch (stopped.kind) {
    case 'fault':
      return stopped.fault.code;
    case 'refused':
      return stopped.reason;
    case 'standIn':
      return 'operation.done_before';
    case 'ambiguous':
      return 'object.ambiguous';
  }
};
