/**
 * Settles a write from what the outside has reported about it. Reports are read in order of arrival; each moves the row along
 * the operation table or leaves it, so that none moves anything back, whatever order they come in:
 *
 *   1. an acknowledgement (accepted, running) is no end;
 *   2. the first end stays; a later one that says something else is evidence only;
 *   3. one that does not say what became of the work makes the far side be asked;
 *   4. nothing is read before the first send: it is kept;
 *   5. where the sends so far were proved unexecuted, a report that is no "not found" is a doubt about that: nothing is sent
 *      again before it is settled.
 */
import type { CallbackBody, CallbackContext, CallbackReading } from '../../definition/tool';
import { RowMissing } from '../../store/errors';
import type { InboxEffect, InboxRow, OperationRow } from '../../store/rows';
import { isUnproved, type OperationState } from '../../workflows/machine/operation-transitions';
import type { ActivityDeps } from '../deps';
import { classOf } from './classify-tool-error';
import { learnFromLookUp, storeLearned, type Known } from './learned';
import type { LoadedOperation, PinnedTool } from './load-operation';

export interface Heard extends Known {
  /** Something was said about this operation. */
  readonly hasNews: boolean;
  /** It was not said what became of it. */
  readonly mustAsk: boolean;
  /** The reports that did not say: they stay unread until the far side has been asked. */
  readonly unanswered: readonly InboxRow[];
}

type Hearing = LoadedOperation & { readonly pinned: PinnedTool };

/** A worker without the pinned tool leaves the reports to one that has it. */
export const readInbox = async (deps: ActivityDeps, operation: LoadedOperation, known: Known): Promise<Heard> => {
  const { ref, pinned } = operation;
  let heard: Heard = { ...known, hasNews: false, mustAsk: false, unanswered: [] };
  if (pinned === undefined || !isHeard(known.row.state)) return heard;
  for (const report of await deps.store.inbox.unsettled(ref, known.row.id)) {
    heard = await takeReport(deps, { ...operation, pinned, row: heard.row }, { report, heard });
  }
  return heard;
};

/** It was sent, and has no end yet. */
const isHeard = (state: OperationState): boolean => isUnproved(state) || state === 'NOT_EXECUTED';

/** The far side has been asked about what these reports did not say. */
export const markAsked = async (
  { store }: Pick<ActivityDeps, 'store'>,
  { ref, row }: Pick<LoadedOperation, 'ref' | 'row'>,
  { unanswered }: Pick<Heard, 'unanswered'>,
): Promise<void> => {
  for (const { eventId } of unanswered) await store.inbox.settled(ref, row.id, { eventId, effect: 'asked' });
};

interface Taking {
  readonly report: InboxRow;
  readonly heard: Heard;
}

const takeReport = async (deps: ActivityDeps, operation: Hearing, { report, heard }: Taking): Promise<Heard> => {
  const { ref, row } = operation;
  const content = await deps.store.artifacts.get(ref.tenant, report.body);
  if (content === undefined) throw new RowMissing(`artifact ${report.body}`);
  const reading = interpret(deps, operation, { report, bytes: content.bytes });
  const taken = await settleFrom(deps, operation, { reading, bytes: content.bytes, heard });
  if (taken.effect === 'asked') return { ...taken.heard, unanswered: [...taken.heard.unanswered, report] };
  const job = reading.kind === 'other' ? undefined : reading.job;
  const read = { eventId: report.eventId, effect: taken.effect, ...(job === undefined ? {} : { job }) };
  await deps.store.inbox.settled(ref, row.id, read);
  deps.log.info({ run: ref.run, operation: row.id, said: reading.kind, effect: taken.effect }, 'a callback was read');
  return taken.heard;
};

type Reading = CallbackReading<unknown>;

/** A tool that cannot read it has a fault of its own; what the callback is about is found out by asking. */
const interpret = (
  deps: ActivityDeps,
  { ref, row, pinned: { tool, input } }: Hearing,
  { report, bytes }: { readonly report: InboxRow; readonly bytes: Uint8Array },
): Reading => {
  if (tool.readCallback === undefined) return { kind: 'cannotTell', why: 'the tool reads no callbacks' };
  try {
    return tool.readCallback(toBody(bytes), input, contextOf({ ref, row }));
  } catch (error) {
    const why = classOf(error);
    deps.log.warn({ run: ref.run, operation: row.id, event: report.eventId, why }, 'a callback could not be read');
    return { kind: 'cannotTell', why };
  }
};

const toBody = (bytes: Uint8Array): CallbackBody => {
  const text = new TextDecoder().decode(bytes);
  return { bytes, text, json: parseJson(text) };
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const contextOf = ({ ref, row }: Pick<Hearing, 'ref' | 'row'>): CallbackContext => ({
  tenant: ref.tenant,
  run: ref.run,
  operation: row.id,
  idempotencyKey: row.id,
  ...(row.job === undefined ? {} : { job: row.job }),
});

interface Settling {
  readonly reading: Reading;
  readonly bytes: Uint8Array;
  readonly heard: Heard;
}

interface Taken {
  readonly effect: InboxEffect;
  readonly heard: Heard;
}

const settleFrom = async (deps: ActivityDeps, operation: Hearing, settling: Settling): Promise<Taken> => {
  const { reading, heard, bytes } = settling;
  const { row } = heard;
  if (reading.kind === 'other') return { effect: 'other_operation', heard };
  if (row.job !== undefined && reading.job !== undefined && reading.job !== row.job) {
    return { effect: 'other_job', heard };
  }
  if (reading.kind === 'cannotTell' || reading.kind === 'notFound') {
    if (row.state === 'NOT_EXECUTED') return settleDoubt(deps, operation, settling);
    return isUnproved(row.state) ? { effect: 'asked', heard: { ...heard, mustAsk: true } } : { effect: 'late', heard };
  }
  const { pinned, evidence } = operation;
  const answer = reading.kind === 'found' ? { raw: bytes, ...reading } : reading;
  const learned = await learnFromLookUp({ ...pinned, evidence }, answer);
  if (!isHeard(row.state)) return { effect: effectOnEnded(row.state, learned.state), heard };
  const named = row.job === undefined && reading.job !== undefined ? { job: reading.job } : {};
  const known = await storeLearned(deps, operation, { learned: { ...learned, ...named } });
  const isMoved = known.row.state !== row.state && known.row.state === learned.state;
  return {
    effect: isMoved ? 'moved' : effectOfUnmoved(known.row, learned.state),
    heard: { ...heard, ...known, hasNews: true },
  };
};

/** Whoever goes after what is unknown finds out: by a look-up, by the same key, or by asking a person. */
const settleDoubt = async (deps: ActivityDeps, operation: Hearing, { reading, heard }: Settling): Promise<Taken> => {
  if (reading.kind === 'notFound') return { effect: 'nothing_new', heard };
  const known = await storeLearned(deps, operation, { learned: { state: 'UNKNOWN', code: 'OUTCOME_UNKNOWN' } });
  return {
    effect: known.row.state === 'UNKNOWN' ? 'moved' : 'nothing_new',
    heard: { ...heard, ...known, hasNews: true },
  };
};

const effectOfUnmoved = ({ state }: OperationRow, said: OperationState): InboxEffect =>
  isUnproved(state) ? 'nothing_new' : effectOnEnded(state, said);

const effectOnEnded = (state: OperationState, said: OperationState): InboxEffect => {
  if (said === state) return 'nothing_new';
  return isUnproved(said) ? 'late' : 'contradicts';
};
