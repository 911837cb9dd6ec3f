/** The small vocabulary in which the absorb functions say what an event changes. */
import type { Effect } from './effects';
import { endCalls, isUnsentCall } from './calls';
import { parseDerivedId, type ArtifactHash, type WaitId } from './ids';
import type { CallPlace, Diagnosis, Ending, OpenWait, Run } from './run';
import type { Terminal, WaitKind } from './states';

export interface Change {
  readonly run: Run;
  readonly effects: readonly Effect[];
}

export const change = (run: Run, ...effects: readonly Effect[]): Change => ({ run, effects });

/** The number of the transition that is being made. */
const nextSeq = (run: Run): number => run.seq + 1;

const waitIdOf = (run: Run, ordinal: number): WaitId =>
  parseDerivedId<WaitId>(`wait_${run.id.slice('run_'.length)}_${String(nextSeq(run))}_${String(ordinal)}`);

export interface WaitRequest {
  readonly kind: WaitKind;
  readonly ordinal?: number;
  readonly about?: CallPlace;
  readonly plan?: ArtifactHash;
  readonly reason?: string;
  readonly diagnosis?: Diagnosis;
}

/** Adds a wait, whose id is that of the transition that opens it, and the effect that stores it. */
export const withWait = ({ run, effects }: Change, request: WaitRequest): Change => {
  const { kind, about, ...shown } = request;
  const id = waitIdOf(run, request.ordinal ?? 0);
  const wait: OpenWait = {
    id,
    kind,
    ...(request.ordinal === undefined ? {} : { ordinal: request.ordinal }),
    ...(about === undefined ? {} : { about }),
  };
  return {
    run: { ...run, waits: [...run.waits, wait] },
    effects: [...effects, { kind: 'openWait', wait: id, waitKind: kind, step: run.step, ...shown, ...about }],
  };
};

/** Forgets the waits for which `isOver` holds, and stops listening for them. */
export const withoutWaits = ({ run, effects }: Change, isOver: (wait: OpenWait) => boolean): Change => {
  const over = run.waits.filter(isOver);
  if (over.length === 0) return { run, effects };
  return {
    run: { ...run, waits: run.waits.filter((wait) => !isOver(wait)) },
    effects: [...effects, { kind: 'closeWaits', waits: over.map((wait) => wait.id) }],
  };
};

/** Ends that the run came to by itself. A cancel or a deadline before the commit still takes their place. */
const GIVES_WAY: ReadonlySet<Terminal> = new Set(['SUCCEEDED', 'FAILED', 'HANDED_OFF']);

/**
 * Of cancel, deadline, expiry and budget the first wins. Calls that nobody has sent end here, reads are cut; writes in
 * flight have the grace.
 */
export const endAs = (run: Run, ending: Ending, isCancel = false): Change => {
  if (run.ending !== undefined && !GIVES_WAY.has(run.ending.as)) return change(run);
  const stopped = endCalls(
    run,
    (call) => isUnsentCall(call) || call.phase === 'DUE' || call.phase === 'ASKING',
    'CANCELLED',
  );
  const { attempt: _stopped, ...rest } = stopped;
  const busy = stopped.calls.filter((call) => call.phase !== 'ENDED');
  return withoutWaits(
    change(
      { ...rest, ending },
      { kind: 'cancelAttempt' },
      { kind: 'stopOperations', isCancel },
      ...(busy.some(({ effect }) => effect === 'read') ? ([{ kind: 'cancelReads' }] as const) : []),
      ...(busy.length > 0 ? ([{ kind: 'startGrace', forMs: run.limits.cancelGraceMs }] as const) : []),
    ),
    () => true,
  );
};

export const withCounters = (run: Run, counters: Partial<Run['counters']>): Run => ({
  ...run,
  counters: { ...run.counters, ...counters },
});

/** New input from a person: what repeated before it is no loop. */
export const withFreshLoops = (run: Run): Run => ({ ...run, loops: { traces: [] } });

/** Asks for a look at the invariants of what the run intends to end as. */
export const withCheck = ({ run, effects }: Change, afterMs: number): Change => {
  const { ending } = run;
  if (ending === undefined) return { run, effects };
  const check = (run.check ?? 0) + 1;
  return { run: { ...run, check }, effects: [...effects, { kind: 'checkEnd', check, ending, afterMs }] };
};

export const withoutEnding = (run: Run): Run => {
  const { ending: _gone, ...rest } = run;
  return rest;
};
