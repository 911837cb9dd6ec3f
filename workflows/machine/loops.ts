/**
 * Loop rules over a bounded window of finished steps. A result counts once the model has seen it, so a step is traced when
 * the next one begins. A rule looks at the newest step: what happened long ago does not fire again.
 */
import type { StepProgress } from './events';
import type { LoopLimits } from './limits';
import { LOOP_CALLS, LOOP_WINDOW, type Diagnosis, type LoopState, type Run, type StepTrace } from './run';

/** Traces the step that just ended, unless that was done already (a context that is frozen a second time). */
export const traceStep = (run: Run, progress: StepProgress | undefined): LoopState => {
  const step = run.step - 1;
  if (step < 1 || progress === undefined || run.loops.traces.some((trace) => trace.step === step)) return run.loops;
  const hasProgress = progress.hasNewEvidence || progress.hasSettled || progress.hasClosedGap || progress.hasNarrowed;
  const traces = newest([...run.loops.traces, toTrace(run, step, hasProgress)]);
  const isOver = hasProgress && diagnose({ traces }, run.limits.loops) === undefined;
  return isOver ? { traces } : { ...run.loops, traces };
};

const newest = (traces: Traces): Traces => {
  const kept = traces.slice(-LOOP_WINDOW);
  while (kept.length > 1 && kept.reduce((sum, { calls }) => sum + calls.length, 0) > LOOP_CALLS) kept.shift();
  return kept;
};

/** Repeatable calls are asked again and again by declaration: none of them is traced. */
const toTrace = (run: Run, step: number, hasProgress: boolean): StepTrace => {
  const counted = run.calls.filter((call) => call.isRepeatable !== true);
  return {
    step,
    plan: counted.map((call) => call.fingerprint).join('+'),
    calls: counted.map((call) => ({
      tool: call.tool,
      call: call.fingerprint,
      ...(call.result === undefined ? {} : { result: call.result }),
    })),
    codes: [...new Set(counted.flatMap((call) => (call.code === undefined ? [] : [call.code])))],
    hasProgress,
    ...(isExempt(run, counted.length) ? { isExempt: true } : {}),
  };
};

/** Both counters are back at 0 once a candidate is stored. */
const isExempt = ({ calls, counters }: Run, counted: number): boolean =>
  (calls.length > 0 && counted === 0) || counters.pauses > 0 || counters.shrinks > 0;

/** The first rule that the newest step makes true. */
export const diagnose = (loops: LoopState, limits: LoopLimits): Diagnosis | undefined => {
  const newest = loops.traces.at(-1);
  if (newest === undefined || newest.isExempt === true) return undefined;
  const counted = loops.traces.filter((trace) => trace.isExempt !== true);
  return (
    repeatedCall(counted, newest, limits.repeatedCall) ??
    repeatedError(counted, newest, limits.repeatedError) ??
    alternatingPlan(counted, limits.alternatingPlan) ??
    noProgress(counted, limits.noProgress)
  );
};

type Traces = readonly StepTrace[];

const repeatedCall = (traces: Traces, newest: StepTrace, limit: number): Diagnosis | undefined => {
  for (const { tool, call, result } of newest.calls) {
    const same = traces.filter((trace) => trace.calls.some((other) => other.call === call && other.result === result));
    if (same.length >= limit) return { rule: 'repeatedCall', steps: stepsOf(same), what: tool };
  }
  return undefined;
};

const repeatedError = (traces: Traces, newest: StepTrace, limit: number): Diagnosis | undefined => {
  const last = traces.slice(-limit);
  const code = newest.codes.find((each) => last.every((trace) => trace.codes.includes(each)));
  if (code === undefined || last.length < limit) return undefined;
  return { rule: 'repeatedError', steps: stepsOf(last), what: code };
};

const alternatingPlan = (traces: Traces, limit: number): Diagnosis | undefined => {
  const last = traces.slice(-2 * limit);
  const [first, second] = last;
  if (last.length < 2 * limit || first === undefined || second === undefined) return undefined;
  if (first.plan === '' || second.plan === '' || first.plan === second.plan) return undefined;
  const isAlternating = last.every((trace, index) => trace.plan === (index % 2 === 0 ? first : second).plan);
  return isAlternating ? { rule: 'alternatingPlan', steps: stepsOf(last), what: second.plan } : undefined;
};

const noProgress = (traces: Traces, limit: number): Diagnosis | undefined => {
  const last = traces.slice(-limit);
  if (last.length < limit || last.some((trace) => trace.hasProgress)) return undefined;
  return { rule: 'noProgress', steps: stepsOf(last), what: 'no new evidence' };
};

/** The diagnosis that the context of the step is to hold: the model has its correction step now. */
export const correctionOf = ({ loops: { corrected }, step }: Pick<Run, 'loops' | 'step'>): Diagnosis | undefined =>
  corrected?.steps.at(-1) === step - 1 ? corrected : undefined;

const stepsOf = (traces: Traces): readonly number[] => traces.map((trace) => trace.step);
