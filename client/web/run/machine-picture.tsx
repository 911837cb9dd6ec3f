/** The state machine as a picture: the usual ways between states, those that this run took, and where it is now. */
import type { RunState } from '../words';
import { STATE_WORDS } from '../words';
import type { ShownRun } from './load-run';

interface Box {
  readonly x: number;
  readonly y: number;
}

const WIDTH = 134;
const HEIGHT = 40;

/** Centres. The end stands for whichever terminal it is. */
const BOXES: Readonly<Record<string, Box>> = {
  READY: { x: 235, y: 30 },
  MODEL_RUNNING: { x: 235, y: 110 },
  VALIDATING: { x: 235, y: 190 },
  TOOL_RUNNING: { x: 235, y: 280 },
  WAITING_USER: { x: 72, y: 280 },
  WAITING_TOOL: { x: 398, y: 280 },
  FINALIZING: { x: 235, y: 370 },
  END: { x: 235, y: 445 },
};

/** The usual ways, drawn so that no two lie on each other. */
export const WAYS: Readonly<Record<string, string>> = {
  'READY MODEL_RUNNING': 'M235 50 V88',
  'MODEL_RUNNING VALIDATING': 'M235 130 V168',
  'VALIDATING TOOL_RUNNING': 'M235 210 V258',
  'VALIDATING READY': 'M168 185 C120 150 120 75 166 36',
  'VALIDATING WAITING_USER': 'M168 198 C120 205 80 230 74 258',
  'VALIDATING FINALIZING': 'M302 196 C325 240 325 320 304 362',
  'TOOL_RUNNING READY': 'M302 272 C360 200 350 80 304 38',
  'TOOL_RUNNING WAITING_TOOL': 'M302 276 H329',
  'TOOL_RUNNING WAITING_USER': 'M168 276 H141',
  'TOOL_RUNNING FINALIZING': 'M235 300 V348',
  'WAITING_USER TOOL_RUNNING': 'M139 290 H166',
  'WAITING_USER READY': 'M50 260 C40 120 110 35 166 28',
  'WAITING_USER FINALIZING': 'M72 300 C75 345 110 368 166 372',
  'WAITING_TOOL READY': 'M420 260 C430 120 360 35 304 28',
  'WAITING_TOOL FINALIZING': 'M398 300 C395 345 360 368 304 372',
  'WAITING_TOOL TOOL_RUNNING': 'M331 290 H304',
  'FINALIZING END': 'M235 390 V423',
};

const isEnd = (state: string): boolean => !Object.hasOwn(BOXES, state);
const boxName = (state: string): string => (isEnd(state) ? 'END' : state);

export const MachinePicture = ({ details: { run }, states }: ShownRun) => {
  const current = run.terminal ?? run.state;
  const path = states.map(({ state }) => state);
  const taken = countWays(path);
  const known = Object.keys(WAYS);
  return (
    <>
      <svg class="machine" viewBox="0 0 470 475" role="img" aria-labelledby="machine-title machine-path">
        <title id="machine-title">The states of a run; this one is in {current}</title>
        <desc id="machine-path">Its way: {describePath(path)}</desc>
        <defs>
          <Arrow id="arrow" />
          <Arrow id="arrow-taken" />
        </defs>
        {known
          .filter((way) => !taken.has(way))
          .map((way) => (
            <path class="way" d={WAYS[way]} marker-end="url(#arrow)" />
          ))}
        {[...taken].map(([way, count]) => (
          <path class="way taken" d={WAYS[way] ?? straight(way)} marker-end="url(#arrow-taken)">
            <title>
              {way.replace(' ', ' → ')}: {count} times
            </title>
          </path>
        ))}
        {Object.entries(BOXES).map(([name, box]) => (
          <StateBox name={name} box={box} current={current} isPassed={path.map(boxName).includes(name)} />
        ))}
      </svg>
      <p class="small">Marked: the ways that this run took, and the state it is in.</p>
    </>
  );
};

const Arrow = ({ id }: { readonly id: string }) => (
  <marker id={id} viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7" orient="auto">
    <path class={id} d="M0 0 L8 4 L0 8 Z" />
  </marker>
);

const countWays = (path: readonly string[]): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const [index, state] of path.slice(1).entries()) {
    const way = `${boxName(path[index] ?? '')} ${boxName(state)}`;
    counts.set(way, (counts.get(way) ?? 0) + 1);
  }
  return counts;
};

/** Of a way that is not usual. The boxes are drawn over its ends. */
const straight = (way: string): string => {
  const [from = '', to = ''] = way.split(' ');
  const [start, end] = [BOXES[from], BOXES[to]];
  if (start === undefined || end === undefined) return '';
  const bend = start.x === end.x ? 95 : 0;
  return `M${String(start.x)} ${String(start.y)} Q${String((start.x + end.x) / 2 - bend)} ${String((start.y + end.y) / 2)} ${String(end.x)} ${String(end.y)}`;
};

const MAX_NAMED = 12;

const describePath = (path: readonly string[]): string =>
  `${path.length > MAX_NAMED ? '… ' : ''}${path.slice(-MAX_NAMED).join(', then ')}`;

interface StateBoxProps {
  readonly name: string;
  readonly box: Box;
  readonly current: RunState;
  readonly isPassed: boolean;
}

const StateBox = ({ name, box, current, isPassed }: StateBoxProps) => {
  const isCurrent = boxName(current) === name && current !== 'STARTING';
  const label = name === 'END' ? (isCurrent ? current : 'the end') : name;
  const classes = ['box', isPassed ? 'passed' : '', isCurrent ? `current ${STATE_WORDS[current].tone}` : ''];
  return (
    <g class={classes.filter((each) => each !== '').join(' ')}>
      <rect x={box.x - WIDTH / 2} y={box.y - HEIGHT / 2} width={WIDTH} height={HEIGHT} rx="8" />
      <text x={box.x} y={box.y + 4.5} text-anchor="middle">
        {label}
      </text>
    </g>
  );
};
