/** What is found out after the end: the next version of the result. The terminal and what was said then stay as they are. */
import type { OperationId } from '../../workflows/contract/ids';
import type { Resolution, Result, RunRef } from '../../workflows/contract/records';
import { isUnproved } from '../../workflows/machine/operation-transitions';
import { resolveResult } from '../build-result';
import type { OperationRow, Settlement } from '../rows';
import type { ResolveOutcome, Resolving } from '../store';
import { readResult, writeResult } from './commit';
import type { Session, Trx } from './connect';
import { lockRun, type LockedRun } from './locked-run';
import { noteEvents } from './note';
import { lockOperation, settleLocked } from './settle';

type Word = NonNullable<Resolving['word']>;

/** Locks the run row first: of several that find something out, each writes a version of its own. */
export const resolveOperation = (session: Session, ref: RunRef, resolving: Resolving): Promise<ResolveOutcome> =>
  session.transact(async (trx) => {
    const run = await lockRun(trx, ref);
    const previous = run.end === undefined ? undefined : await readResult(trx, ref);
    if (previous === undefined) return { kind: 'runNotEnded' };
    const { word } = resolving;
    if (word !== undefined) {
      if (previous.resolutions?.some(({ id }) => id === word.id) === true)
        return { kind: 'resolved', result: previous };
      const refusal = await settleByWord(session, trx, { ref, operation: resolving.operation, word });
      if (refusal !== undefined) return refusal;
    }
    return appendVersion(session, trx, { run, previous, resolving });
  });

interface Said {
  readonly ref: RunRef;
  readonly operation: OperationId;
  readonly word: Word;
}

/** Undefined where it was taken. */
const settleByWord = async (
  session: Session,
  trx: Trx,
  { ref, operation, word }: Said,
): Promise<ResolveOutcome | undefined> => {
  const locked = await lockOperation(session, trx, { ref, id: operation });
  const { row, now } = locked;
  if (!isUnproved(row.state)) return { kind: 'settled', state: row.state };
  if (row.state === 'DISPATCHED' && now < (row.dispatchDeadlineAt ?? now)) return { kind: 'inFlight' };
  let settled = locked;
  for (const settlement of movesFor(row, word)) {
    settled = await settleLocked(session, trx, { locked: settled, settling: { ref, id: operation, settlement } });
  }
  return undefined;
};

/** What was not executed is not executed any more: the run has ended. A job has to be in doubt before it can count as that. */
const movesFor = ({ state }: OperationRow, { state: said, code, failure }: Word): readonly Settlement[] => {
  const found: Settlement = {
    state: said,
    ...(code === undefined ? {} : { code }),
    ...(failure === undefined ? {} : { failure }),
  };
  if (said !== 'NOT_EXECUTED') return [found];
  const isJob = state === 'ACCEPTED' || state === 'RUNNING';
  return [...(isJob ? [{ state: 'UNKNOWN' } as const] : []), found, { ...found, state: 'CANCELLED' }];
};

interface Appending {
  readonly run: LockedRun;
  readonly previous: Result;
  readonly resolving: Resolving;
}

const appendVersion = async (
  session: Session,
  trx: Trx,
  { run, previous, resolving }: Appending,
): Promise<ResolveOutcome> => {
  const { ref } = run;
  const { row, now } = await lockOperation(session, trx, { ref, id: resolving.operation });
  const found = toResolution(previous, row, { resolving, now });
  if (found === undefined) return { kind: 'unchanged', result: previous };
  const first = previous.version === 1 ? previous : await readResult(trx, ref, 1);
  const { answer } = first ?? previous;
  const version = previous.version + 1;
  const result: Result = { ...resolveResult({ previous, answer, operation: row, found }), version };
  await writeResult(session, trx, { ref, result });
  const body = { kind: 'resolution', version, resolution: { ...found, by: { ...found.by } } };
  await noteEvents(session, trx, { run, notes: [{ eventId: `resolution:${String(version)}`, body }] });
  return { kind: 'resolved', result };
};

/** An end that the version before does not hold, or that nobody goes after it any more. */
const toResolution = (
  previous: Result,
  row: OperationRow,
  { resolving, now }: { readonly resolving: Resolving; readonly now: number },
): Resolution | undefined => {
  const before = previous.operations.find(({ id }) => id === row.id);
  if (before === undefined || before.state === row.state) return undefined;
  if (isUnproved(row.state) && row.state !== 'UNRESOLVED') return undefined;
  const { by, word } = resolving;
  return {
    operation: row.id,
    from: before.state,
    to: word?.state ?? row.state,
    by,
    at: new Date(now).toISOString(),
    ...(word === undefined ? {} : { id: word.id, why: word.why }),
  };
};
