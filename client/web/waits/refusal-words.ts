/** Why a response was not taken, for the person who gave it. Every refusal means the same: it changed nothing. */
import type { ResponseRefusal } from '../../../responses/refusals';

interface RefusalWords {
  readonly title: string;
  readonly text: string;
  /** True where it may be answered again, otherwise. */
  readonly isMendable?: true;
}

const SHOWN_BELOW = 'Below is how it stands now.';

export const REFUSAL_WORDS: Readonly<Record<ResponseRefusal, RefusalWords>> = {
  'response.run_ended': { title: 'The run has ended meanwhile', text: SHOWN_BELOW },
  'response.plan_changed': { title: 'The plan has changed since you opened this', text: SHOWN_BELOW },
  'response.wait_void': { title: 'This is not asked any more', text: SHOWN_BELOW },
  'response.already_decided': { title: 'Somebody has answered already', text: SHOWN_BELOW },
  'response.expired': { title: 'The time to answer was over', text: SHOWN_BELOW },
  'response.state_changed': { title: 'This has changed since you opened it', text: 'Read it again, then answer.' },
  'response.token_invalid': { title: 'This form is out of date', text: 'Read it again, then answer.' },
  'response.too_large': { title: 'The answer is too large', text: 'Say it in fewer words.', isMendable: true },
  'response.invalid': { title: 'The answer is not what is asked for', text: 'See the marked field.', isMendable: true },
  'response.agent_unknown': { title: 'This service does not know the agent', text: 'Try again later, or elsewhere.' },
  'response.not_permitted': { title: 'You may not answer this', text: 'The policy of the agent leaves it to others.' },
  'response.edit_invalid': { title: 'The arguments cannot be used', text: 'See the marked field.', isMendable: true },
  'response.edit_not_permitted': {
    title: 'The policy denies these arguments',
    text: 'Change them, or deny.',
    isMendable: true,
  },
  'response.id_taken': { title: 'This form was used for another answer', text: 'Read it again, then answer.' },
};

export const isRefusal = (code: string): code is ResponseRefusal => Object.hasOwn(REFUSAL_WORDS, code);
