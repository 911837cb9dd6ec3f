/** A scenario answers for the people of whom its run asks something: its answers are data, and nobody is asked. */
import type { WaitDetails } from '../../../client/waits';
import type { Json } from '../../../workflows/contract/json';
import type { WaitKind } from '../../../workflows/machine/states';
import { CommandFailure } from '../../errors';
import { answerWait, type Answering } from './answer-wait';
import type { Attendant } from './attend-waits';

export interface ScenarioAnswer {
  readonly kind: WaitKind;
  readonly response: Json;
  /** The code with which it is to be refused; the next answer of this kind is then given to the same wait. */
  readonly refusedAs?: string | undefined;
}

export interface PlayedAnswer {
  readonly wait: WaitDetails;
  readonly response: Json;
  /** Undefined where it was accepted. */
  readonly refused?: { readonly code: string; readonly message: string };
}

export interface PlayOptions extends Answering {
  /** In their order; each wait takes the first that is left of its kind. */
  readonly answers: readonly ScenarioAnswer[];
  readonly onAsked: (wait: WaitDetails) => void | Promise<void>;
  readonly onAnswered: (played: PlayedAnswer) => void;
}

export interface Player extends Attendant {
  /** Answers that nobody has asked for yet. */
  readonly unasked: () => readonly ScenarioAnswer[];
}

/** `attend` throws `scenario.answer_missing` and `scenario.answer_refused`: a scenario that hangs would show nothing. */
export const playAnswers = (options: PlayOptions): Player => {
  const left = [...options.answers];
  const next = (wait: WaitDetails): ScenarioAnswer => {
    const [answer] = left.splice(indexOf(left, wait.kind), 1);
    if (answer === undefined) throw missing(wait);
    return answer;
  };
  return {
    unasked: () => [...left],
    attend: async (wait) => {
      await options.onAsked(wait);
      // Ends: each round takes an answer away.
      while ((await play(options, wait, next(wait))).refused !== undefined);
    },
  };
};

/** The end of the list where there is none: nothing is taken then. */
const indexOf = (answers: readonly ScenarioAnswer[], kind: WaitKind): number => {
  const index = answers.findIndex((each) => each.kind === kind);
  return index < 0 ? answers.length : index;
};

const play = async (options: PlayOptions, wait: WaitDetails, answer: ScenarioAnswer): Promise<PlayedAnswer> => {
  const { response, refusedAs } = answer;
  const { verdict } = await answerWait(options, wait, response);
  const played = { wait, response, ...(verdict.kind === 'accepted' ? {} : { refused: verdict }) };
  options.onAnswered(played);
  if (played.refused?.code !== refusedAs) throw otherwise(played, refusedAs);
  return played;
};

const missing = ({ wait, kind }: WaitDetails): CommandFailure =>
  new CommandFailure(
    'scenario.answer_missing',
    `${wait} asks for an answer (${kind}) that the scenario does not have: answer it yourself, with --stay`,
  );

const otherwise = ({ wait, refused }: PlayedAnswer, refusedAs: string | undefined): CommandFailure =>
  new CommandFailure(
    'scenario.answer_refused',
    `${wait.wait}: the scenario's answer got ${refused === undefined ? 'accepted' : `${refused.code} (${refused.message})`}, ` +
      `expected ${refusedAs ?? 'accepted'}`,
  );
