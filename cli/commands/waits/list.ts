/** `waits list`: the inbox of a tenant, what has waited longest first. */
import type { WaitSummary } from '../../../client/waits';
import { parseRunId } from '../../../workflows/contract/ids';
import type { WaitFilter } from '../../../store/outside';
import { WAIT_STATES } from '../../../store/rows';
import { type WAIT_KINDS } from '../../../workflows/machine/states';
import type { Action } from '../../context';
import { UsageError } from '../../errors';
import type { Output } from '../../output';
import { formatTime, oneLine } from '../../view/format';
import { callerOf, withWaits, type WaitsScope } from './with-waits';

export interface WaitsListOptions extends WaitsScope {
  readonly state: string;
  readonly kind?: (typeof WAIT_KINDS)[number];
  readonly run?: string;
  readonly limit: number;
  readonly cursor?: string;
}

export const waitsList: Action<WaitsListOptions> = (options, context) => {
  const filter = toFilter(options);
  return withWaits(context, options, async (waits) => {
    const page = await waits.list(callerOf(options), filter);
    if (options.json === true)
      context.output.printJson({ waits: page.waits.map(toListed), cursor: page.cursor ?? null });
    else printWaits(page.waits, page.cursor, context.output);
    return 0;
  });
};

const toFilter = ({ state, kind, run, limit, cursor }: WaitsListOptions): WaitFilter => ({
  limit,
  ...toState(state),
  ...(kind === undefined ? {} : { kind }),
  ...(run === undefined ? {} : { run: parseRunId(run) }),
  ...(cursor === undefined ? {} : { cursor }),
});

const toState = (given: string): Pick<WaitFilter, 'state'> => {
  if (given.toLowerCase() === 'all') return {};
  const state = WAIT_STATES.find((each) => each === given.toUpperCase());
  if (state !== undefined) return { state };
  throw new UsageError(`--state: got '${given}', expected one of ${WAIT_STATES.join(', ')}, all`);
};

const toListed = ({ openedAt, expiresAt, ...wait }: WaitSummary): object => ({
  ...wait,
  openedAt: formatTime(openedAt),
  expiresAt: formatTime(expiresAt),
});

const printWaits = (waits: readonly WaitSummary[], cursor: string | undefined, output: Output): void => {
  const { colors } = output;
  for (const { wait, kind, state, agent, goal, requester, expiresAt } of waits) {
    const isOpen = state === 'OPEN';
    const paint = isOpen ? colors.yellow : colors.dim;
    output.print(
      `${wait}  ${paint(state.padEnd(8))}  ${kind.padEnd(14)}  ${colors.dim(`until ${formatTime(expiresAt)}`)}  ${oneLine(requester, 20)}  ${oneLine(agent, 30)}  ${oneLine(goal, 60)}`,
    );
  }
  if (waits.length === 0) output.note('no waits');
  if (cursor !== undefined) output.note(`more with: --cursor ${cursor}`);
};
