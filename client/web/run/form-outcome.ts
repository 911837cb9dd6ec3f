/** What came of a form on the page of a run. */
import type { Tone } from '../words';

export interface FormOutcome {
  readonly tone: Tone;
  readonly title: string;
  readonly text: string;
}

/** By the word that stands in the address after a form was taken. */
export const OUTCOMES: Readonly<Record<string, FormOutcome>> = {
  cancelled: {
    tone: 'good',
    title: 'The cancel was taken.',
    text: 'Nothing new is done from now on. What was sent already is looked after until its end is known.',
  },
  amended: {
    tone: 'good',
    title: 'The message was taken.',
    text: 'The plan has changed; the agent is told in its next step.',
  },
  withdrawn: {
    tone: 'good',
    title: 'It was taken back.',
    text: 'What was asked is void; no answer to it counts any more.',
  },
  resolved: {
    tone: 'good',
    title: 'It was recorded.',
    text: 'The result has a further version; how the run ended stays as it is.',
  },
  started: {
    tone: 'good',
    title: 'A new run was started.',
    text: 'This is it. The run that it follows goes on as it is.',
  },
};
