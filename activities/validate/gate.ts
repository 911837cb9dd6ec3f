/** Whether the candidate is still wanted at all: by the run's row, and by a worker that has what the run was pinned to. */
import { hasPinnedDefinition } from '../context/check-definition';
import {
  fail,
  pass,
  type Fault,
  type JudgeContext,
  type Judgement,
  type PinnedContext,
  type Validator,
} from './judgement';
import type { RunStatus } from './look-ups';

export interface GateInput {
  readonly context: JudgeContext;
  readonly run: RunStatus;
}

const judge = ({ context, run }: GateInput): Judgement<PinnedContext> => {
  if (run.terminal !== undefined) return fail(closed('gate.ended', `the run has ended as ${run.terminal}`));
  if (run.isCancelRequested) return fail(closed('gate.cancel_requested', 'the run was asked to cancel'));
  if (run.isPastDeadline) return fail(closed('gate.deadline', "the run's deadline has passed"));
  if (run.planVersion !== context.planVersion) {
    return fail(closed('gate.plan_changed', 'the task was changed while this was proposed'));
  }
  const { agent, snapshot } = context;
  if (agent === undefined || !hasPinnedDefinition(snapshot, agent)) {
    return fail(closed('definition.missing', 'this worker does not have the tools that the run was pinned to'));
  }
  return pass({ ...context, agent });
};

const closed = (code: string, message: string): Fault => ({ code, error: 'SUPERSEDED', message });

export const GATE: Validator<GateInput, PinnedContext> = { name: 'gate', version: '1', judge };
