/** Renders the machine's tables as a diagram and as Markdown, so that what is read is what decides. */
import { CALL_EVENTS, CALL_TRANSITIONS } from '../workflows/machine/call-transitions';
import { parseDerivedId, type Fingerprint, type WaitId } from '../workflows/machine/ids';
import { join } from '../workflows/machine/join';
import { OPERATION_STATES, OPERATION_TRANSITIONS } from '../workflows/machine/operation-transitions';
import type { Run } from '../workflows/machine/run';
import { ACTIVE_STATES, PHASES, TERMINALS, type Phase } from '../workflows/machine/states';
import { TRANSITIONS, type ErasedBranch } from '../workflows/machine/transitions';

type ActiveState = (typeof ACTIVE_STATES)[number];
type Kind = keyof (typeof TRANSITIONS)['READY'];
type Cell = readonly ErasedBranch[] | 'ignore' | 'reject';

const KINDS = Object.keys(TRANSITIONS.READY).filter((key): key is Kind => key in TRANSITIONS.READY);
const cellOf = (state: keyof typeof TRANSITIONS, kind: Kind): Cell => TRANSITIONS[state][kind];

export const renderStateMachine = (): string =>
  [
    HEAD,
    fence('mermaid', renderDiagram()),
    renderLegend(),
    '## Run table\n',
    ...ACTIVE_STATES.map(renderState),
    `### ${TERMINALS.join(', ')}\n\nA terminal absorbs everything: ${TERMINAL_IGNORES} of ${KINDS.length} events are ignored.\n`,
    renderCallTable(),
    renderOperationTable(),
  ].join('\n');

const HEAD = `# The state machine

Written by \`npm run generate\` from \`workflows/machine\`: \`transitions.ts\`, \`join.ts\`, \`call-transitions.ts\` and
\`operation-transitions.ts\`.
`;

const renderLegend =
  (): string => `An edge reads *event · rule*. Where one event has several edges the first whose guard holds is taken; the tables below have
the guards in order. **ANY** stands for every state before FINALIZING, **CALLS** for those in which calls may be under way. An
edge back to its own state changes data only, or has something done.

**JOIN** asks the calls of the open candidate where the run goes, in this order:

${renderJoinList()}
What an event says of a step, attempt, call, wait, plan or look that the run has left behind is late. It is journaled as
\`ignored\` and changes nothing, whatever the table says (\`stale.ts\`).
`;

const fence = (language: string, text: string): string => `\`\`\`${language}\n${text}\`\`\`\n`;

// --- diagram

interface Edge {
  readonly from: string;
  readonly to: string;
  readonly label: string;
}

/** States whose cells for an event are drawn once where they are all the same. */
const GROUPS: readonly { readonly name: string; readonly title: string; readonly states: readonly ActiveState[] }[] = [
  { name: 'ANY', title: 'any before FINALIZING', states: ACTIVE_STATES.filter((state) => state !== 'FINALIZING') },
  { name: 'CALLS', title: 'any with calls under way', states: ['TOOL_RUNNING', 'WAITING_TOOL', 'WAITING_USER'] },
];

function renderDiagram(): string {
  const edges = [...KINDS.flatMap(edgesOf), ...joinCases().map(({ to, when }) => ({ from: 'JOIN', to, label: when }))];
  const lines = [
    'stateDiagram-v2',
    ...GROUPS.map(({ name, title }) => `  state "${title}" as ${name}`),
    '  state JOIN <<choice>>',
    '  state "the terminal that the row holds" as TERMINAL {',
    ...TERMINALS.map((terminal) => `    ${terminal}`),
    '  }',
    '  [*] --> READY',
    ...mergeEdges(edges).map(({ from, to, label }) => `  ${from} --> ${to} : ${label}`),
    '  TERMINAL --> [*]',
  ];
  return lines.map((line) => `${line}\n`).join('');
}

const edgesOf = (kind: Kind): readonly Edge[] => {
  const drawn = new Set<ActiveState>();
  const groups = GROUPS.filter(({ states }) => {
    if (states.some((state) => drawn.has(state)) || !isSame(states, kind)) return false;
    for (const state of states) drawn.add(state);
    return true;
  });
  const single = ACTIVE_STATES.filter((state) => !drawn.has(state));
  return [
    ...groups.flatMap(({ name, states: [first] }) => (first === undefined ? [] : edgesFrom(name, first, kind))),
    ...single.flatMap((state) => edgesFrom(state, state, kind)),
  ];
};

const isSame = (states: readonly ActiveState[], kind: Kind): boolean =>
  states.every((state) => typeof cellOf(state, kind) !== 'string') &&
  new Set(states.map((state) => JSON.stringify(rowsOf(cellOf(state, kind))))).size === 1;

const edgesFrom = (from: string, state: ActiveState, kind: Kind): readonly Edge[] =>
  branchesOf(cellOf(state, kind)).map(({ to, rule }) => ({ from, to: targetOf(from, to), label: `${kind} · ${rule}` }));

const terminals: ReadonlySet<string> = new Set(TERMINALS);
const targetOf = (from: string, to: ErasedBranch['to']): string => {
  if (to === 'STAY') return from;
  return terminals.has(to) ? 'TERMINAL' : to;
};

/** One arrow for each pair, with all that leads along it. */
const mergeEdges = (edges: readonly Edge[]): readonly Edge[] => {
  const merged = new Map<string, Edge>();
  for (const edge of edges) {
    const key = `${edge.from} ${edge.to}`;
    const known = merged.get(key);
    const isRepeated = known?.label.split('<br/>').includes(edge.label) === true;
    if (known === undefined) merged.set(key, edge);
    else if (!isRepeated) merged.set(key, { ...known, label: `${known.label}<br/>${edge.label}` });
  }
  return [...merged.values()];
};

// --- JOIN

interface JoinCase {
  readonly when: string;
  readonly to: string;
}

/** Each case also holds all that the later ones need, so that it is `join` itself that says which comes first. */
function joinCases(): readonly JoinCase[] {
  const waits = [{ id: parseDerivedId<WaitId>('wait'), kind: 'question' as const }];
  const ending = { as: 'CANCELLED' as const, reason: 'cancelled' };
  const cases: readonly (readonly [when: string, run: Parameters<typeof join>[0]])[] = [
    ['a call is DUE', { calls: callsIn('DUE', 'ASKING', 'PENDING', 'ENDED'), waits, ending }],
    ['a call is SENDING', { calls: callsIn('SENDING', 'ASKING', 'PENDING', 'ENDED'), waits, ending }],
    ['else a call is ASKING', { calls: callsIn('ASKING', 'PENDING', 'ENDED'), waits, ending }],
    ['else a call is PENDING', { calls: callsIn('PENDING', 'ENDED'), waits, ending }],
    ['else a wait is open', { calls: callsIn('ENDED'), waits, ending }],
    ['else the run is ending', { calls: callsIn('ENDED'), waits: [], ending }],
    ['else', { calls: callsIn('ENDED'), waits: [] }],
  ];
  return cases.map(([when, run]) => ({ when, to: join(run) }));
}

const callsIn = (...phases: readonly Phase[]): Run['calls'] =>
  phases.map((phase, index) => ({
    ordinal: index + 1,
    tool: 'tool',
    effect: 'write',
    phase,
    fingerprint: parseDerivedId<Fingerprint>('call'),
    sends: 0,
  }));

function renderJoinList(): string {
  return joinCases()
    .map(({ when, to }, index) => `${index + 1}. ${when}: ${to}\n`)
    .join('');
}

// --- tables

const branchesOf = (cell: Cell): readonly ErasedBranch[] => (typeof cell === 'string' ? [] : cell);

/** A guard is read by its name, so none may be without one. */
const nameOf = ({ when, rule }: ErasedBranch): string => {
  if (when?.name === '') throw new Error(`the guard of '${rule}' has no name`);
  return when === undefined ? '' : `\`${when.name}\``;
};

const rowsOf = (cell: Cell): readonly (readonly string[])[] =>
  branchesOf(cell).map((branch) => [nameOf(branch), branch.to, `\`${branch.rule}\``]);

const renderState = (state: ActiveState): string => {
  const rows = KINDS.flatMap((kind) =>
    rowsOf(cellOf(state, kind)).map((row, index) => [index === 0 ? `\`${kind}\`` : '', ...row]),
  );
  const without = (answer: 'ignore' | 'reject'): string =>
    KINDS.filter((kind) => cellOf(state, kind) === answer)
      .map((kind) => `\`${kind}\``)
      .join(', ');
  const rejected = without('reject');
  return [
    `### ${state}\n`,
    renderTable(['on', 'when', 'to', 'rule'], rows),
    `Ignored: ${without('ignore')}.\n`,
    ...(rejected === '' ? [] : [`Rejected, since it would be a bug of ours: ${rejected}.\n`]),
  ].join('\n');
};

const TERMINAL_IGNORES = KINDS.filter((kind) => TERMINALS.every((state) => cellOf(state, kind) === 'ignore')).length;

const renderCallTable = (): string =>
  [
    '## Call table\n',
    renderTable(
      ['phase', ...CALL_EVENTS],
      PHASES.map((phase) => [phase, ...CALL_EVENTS.map((event) => CALL_TRANSITIONS[phase][event])]),
    ),
  ].join('\n');

const renderOperationTable = (): string =>
  [
    '## Operation table\n',
    renderTable(
      ['operation', 'may become'],
      OPERATION_STATES.map((state) => [state, OPERATION_TRANSITIONS[state].join(', ')]),
    ),
  ].join('\n');

const renderTable = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('');
