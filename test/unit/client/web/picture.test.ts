import { expect, test } from '@jest/globals';
import { WAYS } from '../../../../client/web/run/machine-picture';
import { STATE_WORDS } from '../../../../client/web/words';
import { ACTIVE_STATES, STATES } from '../../../../workflows/machine/states';
import { TRANSITIONS } from '../../../../workflows/machine/transitions';

/** What JOIN may come to. */
const JOINED = ['TOOL_RUNNING', 'WAITING_USER', 'WAITING_TOOL', 'READY', 'FINALIZING'];

test('every way that is drawn is one that the machine has', () => {
  const possible = ACTIVE_STATES.flatMap((from) =>
    Object.values(TRANSITIONS[from]).flatMap((cell) =>
      typeof cell === 'string'
        ? []
        : cell.flatMap(({ to }) => (to === 'JOIN' ? JOINED : [to])).map((to) => `${from} ${to}`),
    ),
  );

  const drawn = Object.keys(WAYS).filter((way) => !way.endsWith(' END'));
  expect(drawn.filter((way) => !possible.includes(way))).toEqual([]);
  for (const state of ACTIVE_STATES) {
    expect(Object.keys(WAYS).some((way) => way.startsWith(`${state} `))).toBe(true);
  }
});

test('every state is said in words', () => {
  expect(Object.keys(STATE_WORDS).sort()).toEqual(['STARTING', ...STATES].sort());
});
