/** What the activity that judged has done ahead of the machine, kept until the machine asks for it or for something else. */
import type { Ahead, FrozenContext, JudgeInput, Judged } from './contract/activities';
import { freezeAfter, isSameFreeze } from './contract/ahead';
import type { EffectOf } from './machine/effects';
import type { JudgedCall } from './machine/events';

interface Done {
  readonly input: JudgeInput;
  readonly calls: readonly JudgedCall[];
  readonly ahead: Ahead;
}

export class DoneAhead {
  private done: Done | undefined;

  keep(input: JudgeInput, judged: Judged): void {
    this.done =
      judged.kind === 'callsJudged' && judged.ahead !== undefined
        ? { input, calls: judged.calls, ahead: judged.ahead }
        : undefined;
  }

  /** Its end has been told. */
  hasRead({ step, ordinal }: EffectOf<'read'>): boolean {
    const { done } = this;
    return done?.input.step === step && done.ahead.reads.some((read) => read.ordinal === ordinal);
  }

  /** Only for exactly what was frozen, of the plan that is current still. */
  takeContext(freeze: EffectOf<'freezeContext'>, planVersion: number): FrozenContext | undefined {
    const { done } = this;
    this.done = undefined;
    if (done?.ahead.frozen === undefined || done.input.planVersion !== planVersion) return undefined;
    const frozen = freezeAfter(done.input, done.calls, done.ahead.reads);
    return frozen !== undefined && isSameFreeze(frozen, freeze) ? done.ahead.frozen : undefined;
  }
}
