/** The generated page shows the whole of the tables: what decides is what is read. */
import { expect, test } from '@jest/globals';
import { renderStateMachine } from '../../../scripts/state-diagram';
import { ACTIVE_STATES, PHASES, TERMINALS } from '../../../workflows/machine/states';
import { TRANSITIONS } from '../../../workflows/machine/transitions';

const page = renderStateMachine();
const diagram = /```mermaid\n([\s\S]*?)```/.exec(page)?.[1] ?? '';
const tables = page.slice(page.indexOf('## Run table'));

const branches = ACTIVE_STATES.flatMap((state) =>
  Object.entries(TRANSITIONS[state]).flatMap(([event, cell]) =>
    typeof cell === 'string' ? [] : cell.map(({ to, rule }) => ({ state, event, to, rule })),
  ),
);

test('every event with its rule is an edge of the diagram', () => {
  const drawn = branches.filter(({ event, rule }) => !diagram.includes(`${event} · ${rule}`));
  expect(branches.length).toBeGreaterThan(80);
  expect(drawn).toEqual([]);
});

test('every edge of the diagram leads between states that it declares', () => {
  const known = new Set<string>([...ACTIVE_STATES, 'ANY', 'CALLS', 'JOIN', 'TERMINAL', '[*]']);
  const edges = [...diagram.matchAll(/^ {2}(\S+) --> (\S+)/gm)];
  expect(edges.length).toBeGreaterThan(20);
  expect(edges.flatMap(([, from = '', to = '']) => [from, to]).filter((end) => !known.has(end))).toEqual([]);
  expect(TERMINALS.filter((terminal) => !diagram.includes(`    ${terminal}\n`))).toEqual([]);
});

test('every branch is a row of its state, with where it leads', () => {
  const sections = new Map(tables.split(/^### /m).map((section) => [section.split('\n')[0], section]));
  const missing = branches.filter(({ state, to, rule }) => !sections.get(state)?.includes(`| ${to} | \`${rule}\` |`));
  expect(missing).toEqual([]);
});

test('every event of a state is in its table or named as ignored or rejected', () => {
  const sections = new Map(tables.split(/^### /m).map((section) => [section.split('\n')[0], section]));
  const events = Object.keys(TRANSITIONS.READY);
  const missing = ACTIVE_STATES.flatMap((state) =>
    events
      .filter((event) => sections.get(state)?.includes(`\`${event}\``) !== true)
      .map((event) => `${state} ${event}`),
  );
  expect(missing).toEqual([]);
});

test('JOIN is listed in the order in which it decides', () => {
  const listed = [...page.matchAll(/^\d\. (.*): (\w+)$/gm)].map(([, when, to]) => [when, to]);
  expect(listed).toEqual([
    ['a call is DUE', 'TOOL_RUNNING'],
    ['a call is SENDING', 'TOOL_RUNNING'],
    ['else a call is ASKING', 'WAITING_USER'],
    ['else a call is PENDING', 'WAITING_TOOL'],
    ['else a wait is open', 'WAITING_USER'],
    ['else the run is ending', 'FINALIZING'],
    ['else', 'READY'],
  ]);
});

test('the call table has a row for each phase', () => {
  const rows = page.slice(page.indexOf('## Call table')).match(/^\| [A-Z]+ \|/gm) ?? [];
  expect(rows.slice(0, PHASES.length)).toEqual(PHASES.map((phase) => `| ${phase} |`));
});

test('the page is the same each time it is written', () => {
  expect(renderStateMachine()).toBe(page);
});
