/** A refusal as the log and the figures keep it: those that are ours with their cause, the others as a count. */
import type { Service } from '../service';
import { toProblem, type Problem, type ProblemError } from './problem';

export const noteProblem = (
  service: Pick<Service, 'metrics' | 'log'>,
  requestId: string,
  refusal: ProblemError,
): Problem => {
  const problem = toProblem(refusal);
  service.metrics.problem(problem.code);
  if (problem.status >= 500) {
    const { cause } = refusal;
    service.log.error({ requestId, instance: problem.instance, code: problem.code, err: cause }, 'a request failed');
  }
  return problem;
};
