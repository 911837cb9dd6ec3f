/**
 * One attempt of a step: asked once, and settled once, whatever dies meanwhile (DESIGN.md 5).
 *
 *   1. The row is opened, with its reservation, before the request leaves; an attempt that has a row is never asked again, and
 *      none is opened once the run was asked to cancel.
 *   2. The candidate is stored in the statement that ends the row and names it. From the moment in which an answer, or an error, is in hand,
 *      a database that is away is waited for, and nothing but the end of the process gives it up.
 *   3. Who asked and was interrupted accounts for what had come by then. After a cancel the attempt has FAILED; after a
 *      shutdown, or where nobody waits any more, it is LOST, and whoever collects it finds it so.
 */
import type { Logger } from 'pino';
import { StoreUnavailable } from '../../store/errors';
import type { Artifact } from '../../store/artifact';
import type { Usage } from '../../store/rows';
import type { AttemptStore, Store } from '../../store/store';
import type { AttemptInput, AttemptOutcome } from '../../workflows/contract/activities';
import type { Totals } from '../../workflows/machine/ledger';
import { toFailure, type Interruption } from '../interruption';
import { withStoreGrace } from '../with-store-grace';
import { buildCandidate } from './build-candidate';
import { classifyEnd, isBilled, isWholeTurn, type AttemptEnd, type EndVerdict } from './classify-end';
import type { AskProvider, Exchange } from './exchange';
import type { LiveText, OnText } from './live-text';
import type { ModelRequest, Project } from './model-request';
import { openAttempt } from './open-attempt';
import { outcomeToJson, readOutcome, toRecordedOutcome } from './recorded-outcome';
import { NO_USAGE, settleUsage } from './usage';

/** What an attempt works with; `interruption` is the current execution's. */
export interface AttemptTools {
  readonly store: Pick<Store, 'attempts' | 'artifacts'>;
  readonly project: Project;
  readonly askProvider: AskProvider;
  readonly onText?: OnText | undefined;
  readonly log: Logger;
  readonly storeGraceMs: number;
  readonly interruption: { readonly signal: AbortSignal; readonly read: () => Interruption };
}

export const runAttempt = async (tools: AttemptTools, input: AttemptInput): Promise<AttemptOutcome> => {
  // The engine repeats a collect until it works, so it need not wait here.
  if (input.mode === 'collect') return collect(tools.store.attempts, input);
  const { store, interruption } = tools;
  const grace = { ...graceOf(tools), signal: interruption.signal };
  const request = await withStoreGrace(grace, () => tools.project(input.ref, input.context));
  const opened = await withStoreGrace(grace, () => openAttempt(store.attempts, input, request));
  if (opened.kind !== 'opened') return opened;
  const { row, isNew, totals, maxOutputTokens } = opened;
  if (isNew) return ask(tools, input, { request, maxOutputTokens });
  // An earlier execution of the same number left this row; whether its request left, nobody knows.
  if (row.state === 'OPEN') return withStoreGrace(grace, () => collect(store.attempts, input));
  return readOutcome(row, totals);
};

const graceOf = ({ storeGraceMs, log }: AttemptTools) => ({
  graceMs: storeGraceMs,
  onWait: (failures: number) => {
    log.warn({ failures }, 'the database does not answer; the attempt waits for it');
  },
});

/** Without a row nothing was asked, and with the LOST one that this leaves nothing will be: its usage is none. */
const collect = async (attempts: AttemptStore, input: AttemptInput): Promise<AttemptOutcome> => {
  const { ref, events, step, attempt, context } = input;
  const { row, totals } = await attempts.collect({ ref, events }, { step, attempt, context, estimate: NO_USAGE });
  return readOutcome(row, totals);
};

interface Asked {
  readonly request: ModelRequest;
  readonly maxOutputTokens: number;
}

const ask = async (tools: AttemptTools, input: AttemptInput, asked: Asked): Promise<AttemptOutcome> => {
  const { end, ...exchanged } = await tools.askProvider({
    ...asked,
    interruption: tools.interruption.signal,
    onText: textTeller(tools, input),
  });
  const billed = end.kind === 'interrupted' ? end.isSent : isBilled(end);
  const usage = billed ? settleUsage(exchanged.message, asked.request) : NO_USAGE;
  const received: Received = { ...exchanged, usage, model: asked.request.model };
  return end.kind === 'interrupted'
    ? giveUp(tools, input, received)
    : settle(tools, input, { ...received, verdict: classifyEnd(end), end });
};

interface Received extends Omit<Exchange, 'end'> {
  readonly usage: Usage;
  readonly model: string;
}

/** Whoever listens changes nothing. */
const tellViewers = ({ onText, log }: AttemptTools, text: LiveText): void => {
  try {
    onText?.(text);
  } catch (error) {
    log.warn({ err: error }, 'a listener to live text failed');
  }
};

const coordinatesOf = ({ ref: { tenant, run }, step, attempt }: AttemptInput) => ({ tenant, run, step, attempt });

const textTeller = (tools: AttemptTools, input: AttemptInput) => {
  const coordinates = coordinatesOf(input);
  let index = 0;
  tellViewers(tools, { kind: 'reset', ...coordinates });
  return (text: string): void => {
    tellViewers(tools, { kind: 'text', ...coordinates, index, text });
    index += 1;
  };
};

interface Settling extends Received {
  readonly end: AttemptEnd;
  readonly verdict: EndVerdict;
}

const settle = async (tools: AttemptTools, input: AttemptInput, settling: Settling): Promise<AttemptOutcome> => {
  const { verdict } = settling;
  const candidate = draftCandidate(tools, input, { received: settling, isComplete: isWholeTurn(verdict) });
  const { row, totals } = await endRow(tools, input, { verdict, candidate, usage: settling.usage });
  tellViewers(tools, { kind: 'ended', ...coordinatesOf(input) });
  const outcome = readOutcome(row, totals);
  logEnd(tools.log, settling, outcome);
  return outcome;
};

/** What was cut short is kept too, marked as incomplete. Undefined where nothing was said. */
const draftCandidate = (
  tools: AttemptTools,
  input: AttemptInput,
  { received, isComplete }: { readonly received: Received; readonly isComplete: boolean },
): Artifact | undefined => {
  const { message, usage, model } = received;
  if (message.blocks.length === 0 && !message.hasEnded) return undefined;
  const candidate = buildCandidate(input, received, { isComplete, usage, model });
  return tools.store.artifacts.draftJson(input.ref.tenant, candidate);
};

interface RowEnd {
  readonly verdict: EndVerdict;
  readonly candidate: Artifact | undefined;
  readonly usage: Usage;
}

const endRow = (
  tools: AttemptTools,
  { ref, step, attempt }: AttemptInput,
  { verdict, candidate, usage }: RowEnd,
): ReturnType<AttemptStore['end']> =>
  withStoreGrace(graceOf(tools), () =>
    tools.store.attempts.end(
      { ref, step, attempt },
      {
        state: isWholeTurn(verdict) ? 'STORED' : 'FAILED',
        outcome: outcomeToJson(toRecordedOutcome(verdict, candidate?.hash)),
        usage,
        ...(candidate === undefined ? {} : { candidate: candidate.hash, artifacts: [candidate] }),
      },
    ),
  );

const INTERRUPTED: EndVerdict = { kind: 'attemptFailed', code: 'model.interrupted' };

/** Nothing paid is in hand, and whoever collects the attempt settles it too: no reason to keep a worker from ending. */
const HAND_OVER_GRACE_MS = 5_000;

/** Never returns: the activity ends as interrupted. */
const giveUp = async (tools: AttemptTools, input: AttemptInput, received: Received): Promise<never> => {
  const interruption = tools.interruption.read();
  const { requestId, usage } = received;
  tools.log.info({ interruption, requestId, usage }, 'attempt interrupted');
  if (interruption === 'cancel') await endInterrupted(tools, input, received);
  else await handOver({ ...tools, storeGraceMs: Math.min(tools.storeGraceMs, HAND_OVER_GRACE_MS) }, input, received);
  throw toFailure(interruption);
};

const endInterrupted = async (tools: AttemptTools, input: AttemptInput, received: Received): Promise<void> => {
  const candidate = draftCandidate(tools, input, { received, isComplete: false });
  await endRow(tools, input, { verdict: INTERRUPTED, candidate, usage: received.usage });
};

/** First LOST, by the one estimate that is always there; then what this execution knows better. */
const handOver = async (tools: AttemptTools, input: AttemptInput, received: Received): Promise<void> => {
  try {
    await withStoreGrace(graceOf(tools), () => collect(tools.store.attempts, input));
    await endInterrupted(tools, input, received);
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    tools.log.warn('the database does not answer; the attempt is left to whoever collects it');
  }
};

const logEnd = (
  log: Logger,
  { end, requestId, usage }: Settling,
  outcome: AttemptOutcome & { totals: Totals },
): void => {
  const { kind } = outcome;
  const code = 'code' in outcome ? outcome.code : undefined;
  const stopReason = end.kind === 'message' ? end.stopReason : undefined;
  log.info({ requestId, outcome: kind, code, end: end.kind, stopReason, usage }, 'attempt ended');
};
