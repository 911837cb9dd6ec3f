/** The states that a run went through, and how its time divides between people and systems; from the journal alone. */
import type { MachineLine } from './machine-line';

export interface StateEntry {
  readonly state: string;
  readonly atMs: number;
}

/** Each state in the order of entering it; events that leave the state as it is are no entry. */
export const statesOf = (lines: readonly MachineLine[], openedAt: number): readonly StateEntry[] => {
  const [first] = lines;
  // The journal begins with the first transition: what it leaves was entered when the run opened.
  const start = { state: first?.from ?? 'READY', atMs: Math.min(openedAt, first?.at ?? openedAt) };
  return [start, ...lines.filter(({ from, to }) => from !== to).map(({ to, at }) => ({ state: to, atMs: at }))];
};

export interface Times {
  readonly systemMs: number;
  readonly userMs: number;
}

/** `userMs` is the time in WAITING_USER; `systemMs` the rest between the first event and the last (or `nowMs`, while it goes on). */
export const timesOf = (lines: readonly MachineLine[], nowMs?: number): Times => {
  const [first] = lines;
  const last = lines.at(-1);
  if (first === undefined || last === undefined) return { systemMs: 0, userMs: 0 };
  const endMs = Math.max(last.at, nowMs ?? last.at);
  const userMs = lines.reduce((sum, { to, at }, index) => {
    const until = lines[index + 1]?.at ?? endMs;
    return to === 'WAITING_USER' ? sum + Math.max(0, until - at) : sum;
  }, 0);
  return { userMs, systemMs: Math.max(0, endMs - first.at - userMs) };
};
