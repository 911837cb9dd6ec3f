/** Whoever sits at the terminal is shown what is asked, all of it, and answers; or somebody else does, elsewhere. */
import { setTimeout as delay } from 'node:timers/promises';
import type { WaitDetails } from '../../../client/waits';
import type { Output } from '../../output';
import { visible } from '../../view/format';
import { renderWait } from '../../view/wait-view';
import { answerWait, type Answering } from './answer-wait';
import type { Attendant } from './attend-waits';
import { interview } from './interview';

export interface Terminal {
  /** Undefined where the signal came first, or there is nobody to ask any more. */
  ask(question: string, signal: AbortSignal): Promise<string | undefined>;
}

export interface PersonOptions extends Answering {
  readonly terminal: Terminal;
  readonly view: Pick<Output, 'print' | 'colors'>;
  /** How often it is looked whether somebody else has decided. */
  readonly everyMs: number;
  /** Says where else it can be answered. */
  readonly tellElsewhere: (wait: WaitDetails) => void;
}

export const askPerson = (options: PersonOptions): Attendant => {
  let isAsking = true;
  return {
    attend: async (wait) => {
      const { view, tellElsewhere } = options;
      for (const line of ['', ...renderWait(wait, view.colors), '']) view.print(line);
      if (isAsking) isAsking = await askFor(options, wait);
      if (!isAsking) tellElsewhere(wait);
    },
  };
};

/** False where nobody answers here any more. */
const askFor = async (options: PersonOptions, wait: WaitDetails): Promise<boolean> => {
  const over = new AbortController();
  const watching = abortWhenDecided(options, wait, over);
  try {
    return await askUntilAccepted(options, wait, over.signal);
  } finally {
    over.abort();
    await watching;
  }
};

const askUntilAccepted = async (options: PersonOptions, wait: WaitDetails, signal: AbortSignal): Promise<boolean> => {
  const { waits, caller, terminal, view } = options;
  for (;;) {
    const body = await interview(wait, (question) => terminal.ask(question, signal));
    if (body === undefined && !signal.aborted) return false;
    if (body !== undefined && !signal.aborted) {
      const { verdict } = await answerWait(options, wait, body);
      if (verdict.kind === 'accepted') return true;
      view.print(view.colors.red(`Refused: ${visible(verdict.message)} (${verdict.code})`));
    }
    const now = await waits.get(caller, wait.wait);
    if (now.state === 'OPEN') continue;
    view.print(`${view.colors.yellow('Not asked any more:')} ${describeEnd(now)}`);
    return true;
  }
};

const describeEnd = ({ wait, state, response, responses }: WaitDetails): string => {
  const by = responses.find(({ verdict }) => verdict === 'accepted')?.principal.subject;
  if (state !== 'CONSUMED') return `${wait} is ${state}`;
  return `${wait} was answered by ${visible(by ?? 'somebody')}: ${visible(JSON.stringify(response ?? null))}`;
};

const abortWhenDecided = async (
  { waits, caller, everyMs }: PersonOptions,
  { wait }: WaitDetails,
  over: AbortController,
): Promise<void> => {
  while (!over.signal.aborted) {
    await delay(everyMs, undefined, { signal: over.signal }).catch(() => undefined);
    // What cannot be read now is asked for again: whoever answers meanwhile gets the verdict anyhow.
    const state = await waits.get(caller, wait).then(
      (now) => now.state,
      () => 'OPEN',
    );
    if (state !== 'OPEN') over.abort();
  }
};
