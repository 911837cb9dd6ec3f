/** One question to the far side about one operation, with a deadline of its own, and what it makes of the row. */
import type { LookUpContext, LookUpResult } from '../../definition/tool';
import type { ActivityDeps } from '../deps';
import { callWithin } from './call-within';
import { classOf } from './classify-tool-error';
import type { Standing } from './conclude';
import { learnFromLookUp, storeLearned } from './learned';
import { lookUpContextOf, type LoadedOperation, type PinnedTool } from './load-operation';
import { readWithClock } from './read-with-clock';

type Ask = (input: unknown, context: LookUpContext) => Promise<LookUpResult<unknown>>;

interface Question {
  readonly kind: 'lookUp' | 'poll';
  /** Undefined where the tool, or this worker, has no way to ask. */
  readonly ask: Ask | undefined;
  /** Cuts the question short: it is asked again later. */
  readonly cancellation: AbortSignal;
}

const DEFAULT_LOOK_UP_TIMEOUT_MS = 10_000;

/** Counted before it is asked, so that a question that kills its worker is asked a bounded number of times. */
export const lookUp = async (deps: ActivityDeps, operation: LoadedOperation, question: Question): Promise<Standing> => {
  const { store } = deps;
  const { ref, row, pinned, evidence } = operation;
  const counted = await store.operations.countPursuit(ref, row.id, question.kind, 0);
  if (question.ask === undefined || pinned === undefined) return { ...counted, answer: 'cannotTell' };
  const answer = await ask(deps, { ...operation, pinned, row: counted.row }, { ...question, ask: question.ask });
  if (answer.kind === 'notFound' || answer.kind === 'cannotTell') {
    // The row may have moved while the far side was asked.
    return { ...(await readWithClock(store, ref, row.id)), answer: answer.kind, askedAt: counted.now };
  }
  return storeLearned(deps, operation, { learned: await learnFromLookUp({ ...pinned, evidence }, answer) });
};

interface Asking extends Question {
  readonly ask: Ask;
}

const ask = async (
  deps: ActivityDeps,
  operation: LoadedOperation & { readonly pinned: PinnedTool },
  { kind, ask: askFarSide, cancellation }: Asking,
): Promise<LookUpResult<unknown>> => {
  const {
    pinned: { tool, input },
    row,
  } = operation;
  const limits = { tool: tool.name, timeoutMs: tool.timeoutMs ?? DEFAULT_LOOK_UP_TIMEOUT_MS, cancellation };
  try {
    return await callWithin(limits, (signal) => askFarSide(input, lookUpContextOf(deps, operation, signal)));
  } catch (error) {
    const why = cancellation.aborted ? 'interrupted' : classOf(error);
    deps.log.warn({ run: operation.ref.run, operation: row.id, kind, why }, 'a look-up gave no answer');
    return { kind: 'cannotTell', why };
  }
};
