/** `runs list`: the newest runs of a tenant. */
import type { RunRow } from '../../../store/rows';
import type { RunFilter } from '../../../store/store';
import { STATES, type State } from '../../../workflows/machine/states';
import type { Action } from '../../context';
import { UsageError } from '../../errors';
import type { Output } from '../../output';
import { withServices } from '../../services';
import { formatTime, oneLine } from '../../view/format';
import { paintState } from '../../view/journal-line';
import type { ScopeOptions } from './scope';

export interface ListOptions extends ScopeOptions {
  readonly state?: string;
  readonly agent?: string;
  readonly limit: number;
  readonly cursor?: string;
}

export const runsList: Action<ListOptions> = (options, context) => {
  const filter = toFilter(options);
  return withServices(context, async ({ runs }) => {
    const { rows, cursor } = await runs.list(options.tenant, filter);
    if (options.json === true) context.output.printJson({ runs: rows.map(toListed), cursor: cursor ?? null });
    else printRows(rows, cursor, context.output);
    return 0;
  });
};

const toFilter = ({ state, agent, limit, cursor }: ListOptions): RunFilter => ({
  limit,
  ...(state === undefined ? {} : { state: toState(state) }),
  ...(agent === undefined ? {} : { agent }),
  ...(cursor === undefined ? {} : { cursor }),
});

const LISTED_STATES = ['STARTING', ...STATES] as const satisfies readonly (State | 'STARTING')[];

const toState = (given: string): State | 'STARTING' => {
  const state = LISTED_STATES.find((each) => each === given.toUpperCase());
  if (state === undefined) {
    throw new UsageError(`--state: got '${given}', expected one of ${LISTED_STATES.join(', ')}`);
  }
  return state;
};

const toListed = ({
  ref,
  agent,
  task,
  state,
  terminal,
  reason,
  step,
  principal,
  createdAt,
  endedAt,
}: RunRow): object => ({
  run: ref.run,
  agent,
  goal: task.goal,
  subject: principal.subject,
  state,
  terminal: terminal ?? null,
  reason: reason ?? null,
  step,
  createdAt: formatTime(createdAt),
  endedAt: endedAt === undefined ? null : formatTime(endedAt),
});

const printRows = (rows: readonly RunRow[], cursor: string | undefined, output: Output): void => {
  const { colors } = output;
  for (const { ref, agent, task, state, step, createdAt } of rows) {
    const painted = paintState(state, colors)(state.padEnd(16));
    output.print(
      `${ref.run}  ${colors.dim(formatTime(createdAt))}  ${painted}  step ${String(step).padStart(3)}  ${oneLine(agent, 30)}  ${oneLine(task.goal, 60)}`,
    );
  }
  if (rows.length === 0) output.note('no runs');
  if (cursor !== undefined) output.note(`more with: --cursor ${cursor}`);
};
