/**
 * The form in which values travel through a history, where every byte is kept for ever and read again by every replay: what
 * follows from its neighbour, and what is as usual, is left out. Packed and unpacked here and nowhere else; on both sides
 * of it everything has its full shape.
 */
import type { StepProgress } from '../machine/events';
import { NO_TOTALS, type Totals } from '../machine/ledger';
import type { State } from '../machine/states';
import type { Ahead, Carried, FrozenContext, Judged, MachineEvent, Verdict } from './activities';

/** Numbers follow one another, and each event begins where the one before it ended. */
export interface PackedEvents {
  /** Of the first. */
  readonly seq: number;
  readonly from: State;
  readonly at: number;
  readonly took: readonly PackedEvent[];
}
type PackedEvent = readonly [
  event: MachineEvent['event'],
  to: State,
  rule: string,
  msAfterTheOneBefore: number,
  cause: MachineEvent['cause'],
];

/** Without events, or where they do not follow one another, as they are. */
export type WireEvents = PackedEvents | readonly MachineEvent[];

export const packEvents = (events: readonly MachineEvent[]): WireEvents => {
  const [first] = events;
  if (first === undefined || !isChain(events)) return events;
  const took = events.map(({ event, to, rule, at, cause }, index): PackedEvent => [
    event,
    to,
    rule,
    at - (events[index - 1] ?? first).at,
    cause,
  ]);
  return { seq: first.seq, from: first.from, at: first.at, took };
};

const isChain = (events: readonly MachineEvent[]): boolean =>
  events.every((event, index) => {
    const before = events[index - 1];
    return before === undefined || (event.seq === before.seq + 1 && event.from === before.to);
  });

export const unpackEvents = (packed: WireEvents): readonly MachineEvent[] => {
  if (!('took' in packed)) return packed;
  const events: MachineEvent[] = [];
  let { seq, from, at } = packed;
  for (const [event, to, rule, msAfter, cause] of packed.took) {
    at += msAfter;
    events.push({ seq, from, event, to, rule, at, cause });
    seq += 1;
    from = to;
  }
  return events;
};

/** Zeros are left out. */
export type PackedTotals = Partial<Totals>;

export const packTotals = (totals: Totals): PackedTotals =>
  Object.fromEntries(Object.entries(totals).filter(([, total]) => total !== 0));

export const unpackTotals = (packed: PackedTotals): Totals => ({ ...NO_TOTALS, ...packed });

export interface PackedContext {
  readonly context: FrozenContext['context'];
  readonly totals?: PackedTotals;
  readonly definition?: 'missing';
  /** Those that hold. */
  readonly progress?: readonly (keyof StepProgress)[];
}

export const packContext = ({ context, totals, definition, progress }: FrozenContext): PackedContext => ({
  context,
  ...(totals === undefined ? {} : { totals: packTotals(totals) }),
  ...(definition === 'missing' ? { definition } : {}),
  ...(progress === undefined ? {} : { progress: PROGRESS.filter((name) => progress[name]) }),
});

export const unpackContext = ({ context, totals, definition, progress }: PackedContext): FrozenContext => ({
  context,
  definition: definition ?? 'pinned',
  ...(totals === undefined ? {} : { totals: unpackTotals(totals) }),
  ...(progress === undefined ? {} : { progress: unpackProgress(new Set(progress)) }),
});

const PROGRESS = ['hasNewEvidence', 'hasSettled', 'hasClosedGap', 'hasNarrowed'] as const;

const unpackProgress = (held: ReadonlySet<keyof StepProgress>): StepProgress => ({
  hasNewEvidence: held.has('hasNewEvidence'),
  hasSettled: held.has('hasSettled'),
  hasClosedGap: held.has('hasClosedGap'),
  hasNarrowed: held.has('hasNarrowed'),
});

export type PackedJudged = Verdict & { readonly ahead?: PackedAhead };
type PackedAhead = Omit<Ahead, 'frozen'> & { readonly frozen?: PackedContext };

export const packJudged = ({ ahead, ...verdict }: Judged): PackedJudged => {
  if (ahead === undefined) return verdict;
  const { frozen, ...reads } = ahead;
  return { ...verdict, ahead: { ...reads, ...(frozen === undefined ? {} : { frozen: packContext(frozen) }) } };
};

export const unpackJudged = ({ ahead, ...verdict }: PackedJudged): Judged => {
  if (ahead === undefined) return verdict;
  const { frozen, ...reads } = ahead;
  return { ...verdict, ahead: { ...reads, ...(frozen === undefined ? {} : { frozen: unpackContext(frozen) }) } };
};

/** What a carrier is given, and what it answers, as the history has it. */
export type Wire<Activities> = {
  readonly [Name in keyof Activities]: Activities[Name] extends (input: infer Input) => Promise<infer Answer>
    ? (input: WireInput<Input>) => Promise<WireAnswer<Answer>>
    : never;
};
type WireInput<Input> = Input extends Carried ? Omit<Input, 'events'> & { readonly events: WireEvents } : Input;
type WireAnswer<Answer> = Answer extends { readonly totals: Totals }
  ? Omit<Answer, 'totals'> & { readonly totals: PackedTotals }
  : Answer extends FrozenContext
    ? PackedContext
    : Answer extends Judged
      ? PackedJudged
      : Answer;
export type WireCarried = WireInput<Carried>;
