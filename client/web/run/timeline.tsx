/** The run's time, that of systems and that of people apart, and each change of state. */
import { isTerminal, type State } from '../../../workflows/machine/states';
import { formatDuration } from '../../views/format';
import type { StateEntry } from '../../views/durations';
import type { MachineLine } from '../../views/machine-line';
import type { ShownRun } from './load-run';

export const Timeline = ({ shown }: { readonly shown: ShownRun }) => {
  const { times, details } = shown;
  return (
    <>
      <Lanes {...shown} />
      <ul class="legend">
        <li class="model">Model</li>
        <li class="tool">Tools and outside systems</li>
        <li class="own">Holdfast itself</li>
        <li class="user">People</li>
      </ul>
      <dl class="terms">
        <div>
          <dt>Systems</dt>
          <dd>{formatDuration(times.systemMs)}</dd>
        </div>
        <div>
          <dt>People</dt>
          <dd>{formatDuration(times.userMs)}</dd>
        </div>
      </dl>
      <Changes {...shown} />
      <p class="small">
        <a href={`/runs/${details.run.run}/journal`}>The whole journal</a>
        {shown.isJournalWhole ? '' : ': the picture shows its beginning only.'}
      </p>
    </>
  );
};

type Lane = 'model' | 'tool' | 'own' | 'user';

const LANES: Readonly<Record<string, Lane>> = {
  MODEL_RUNNING: 'model',
  TOOL_RUNNING: 'tool',
  WAITING_TOOL: 'tool',
  WAITING_USER: 'user',
};

const laneOf = (state: string): Lane => LANES[state] ?? 'own';

const WIDTH = 1000;
const LANE_HEIGHT = 18;
/** So that what was short is seen at all. */
const MIN_WIDTH = 2;

const Lanes = ({ states, nowMs, details }: ShownRun) => {
  const first = states[0]?.atMs ?? nowMs;
  const last = details.run.endedAt === undefined ? nowMs : (states.at(-1)?.atMs ?? nowMs);
  const total = Math.max(1, last - first);
  const toX = (atMs: number): number => ((atMs - first) / total) * WIDTH;
  return (
    <svg
      class="lanes"
      viewBox={`0 0 ${String(WIDTH)} ${String(2 * LANE_HEIGHT + 6)}`}
      preserveAspectRatio="none"
      aria-hidden="true"
      focusable="false"
    >
      <rect class="ground" x="0" y="0" width={WIDTH} height={LANE_HEIGHT} />
      <rect class="ground" x="0" y={LANE_HEIGHT + 6} width={WIDTH} height={LANE_HEIGHT} />
      {states.map(({ state, atMs }, index) => {
        if (isTerminal(parseState(state))) return null;
        const lane = laneOf(state);
        const end = states[index + 1]?.atMs ?? last;
        return (
          <rect
            class={lane}
            x={toX(atMs).toFixed(1)}
            y={lane === 'user' ? LANE_HEIGHT + 6 : 0}
            width={Math.max(MIN_WIDTH, toX(end) - toX(atMs)).toFixed(1)}
            height={LANE_HEIGHT}
          />
        );
      })}
    </svg>
  );
};

// The journal holds names of states alone.
const parseState = (state: string): State => state as State;

const MAX_CHANGES = 40;

const Changes = ({ lines, startedAt, states, details }: ShownRun) => {
  const changes = lines.filter(({ from, to }) => from !== to);
  const shown = changes.slice(-MAX_CHANGES);
  return (
    <details id="changes" open={details.run.terminal === undefined && changes.length <= MAX_CHANGES}>
      <summary>
        {changes.length === shown.length
          ? 'Every change of state'
          : `The last ${String(shown.length)} changes of state`}{' '}
        ({changes.length})
      </summary>
      <ol class="changes">
        {changes.length === shown.length ? <Start entry={states[0]} startedAt={startedAt} /> : null}
        {shown.map((line) => (
          <Change line={line} startedAt={startedAt} />
        ))}
      </ol>
    </details>
  );
};

const Start = ({ entry, startedAt }: { readonly entry: StateEntry | undefined; readonly startedAt: number }) =>
  entry === undefined ? null : (
    <li>
      <span class="since">{formatDuration(Math.max(0, entry.atMs - startedAt))}</span> <strong>{entry.state}</strong>
    </li>
  );

const Change = ({ line, startedAt }: { readonly line: MachineLine; readonly startedAt: number }) => {
  const { step, code } = line.cause;
  return (
    <li class={laneOf(line.to)}>
      <span class="since">{formatDuration(Math.max(0, line.at - startedAt))}</span> <strong>{line.to}</strong>{' '}
      <span class="small">
        {line.rule}
        {step === undefined ? '' : `, step ${String(step)}`}
        {code === undefined ? '' : `, ${String(code)}`}
      </span>
    </li>
  );
};
