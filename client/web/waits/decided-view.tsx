/** How a wait ended: what was answered, by whom and when; and which answers came and did not count. */
import { z } from 'zod';
import type { WaitView } from '../../schemas/wait';
import { JsonView } from '../render/json-view';
import { Moment, Notice } from '../render/parts';
import { REFUSAL_WORDS, isRefusal } from './refusal-words';

export const DecidedView = ({ wait }: { readonly wait: WaitView }) => {
  switch (wait.state) {
    case 'OPEN':
      return null;
    case 'EXPIRED':
      return (
        <Notice tone="bad" title="Nobody answered in time.">
          <p>
            It expired at <Moment at={wait.expiresAt} />. Nothing that was asked about was done on its ground.
          </p>
        </Notice>
      );
    case 'VOID':
      return (
        <Notice tone="calm" title="This is not asked any more.">
          <p>The run went on without an answer: its plan was changed, or it is ending.</p>
        </Notice>
      );
    case 'CONSUMED':
      return <Answered wait={wait} />;
  }
};

const Answered = ({ wait }: { readonly wait: WaitView }) => {
  const accepted = wait.responses.find(({ verdict }) => verdict === 'accepted');
  const { decision, rest } = split(wait.response);
  return (
    <section class="card decided" aria-labelledby="decided">
      <h2 id="decided">{TITLES[decision ?? ''] ?? 'Answered'}</h2>
      <p>
        {accepted === undefined ? (
          'It is not recorded by whom.'
        ) : (
          <>
            By <strong>{accepted.subject}</strong>, <Moment at={accepted.receivedAt} />
          </>
        )}
      </p>
      {rest === undefined ? null : <JsonView value={rest} />}
    </section>
  );
};

const TITLES: Readonly<Record<string, string>> = { approve: 'Approved', deny: 'Denied' };

const APPROVAL = z.looseObject({ decision: z.enum(['approve', 'deny']), argumentHash: z.string().optional() });

/** The decision has a title of its own; a hash says nothing to a person. */
const split = (
  response: WaitView['response'],
): { readonly decision?: string; readonly rest?: NonNullable<WaitView['response']> } => {
  const parsed = APPROVAL.safeParse(response);
  if (!parsed.success) return response === undefined || response === null ? {} : { rest: response };
  const { decision, argumentHash: _hash, ...others } = parsed.data;
  const rest = parseRest(others);
  return Object.keys(rest).length === 0 ? { decision } : { decision, rest };
};

// What is left of JSON is JSON.
const parseRest = (others: object): Exclude<NonNullable<WaitView['response']>, string | number | boolean> =>
  others as Exclude<NonNullable<WaitView['response']>, string | number | boolean>;

export const RefusedResponses = ({ wait }: { readonly wait: WaitView }) => {
  const refused = wait.responses.filter(({ verdict }) => verdict !== 'accepted');
  if (refused.length === 0) return null;
  return (
    <details class="card" id="refused">
      <summary>Answers that did not count ({refused.length})</summary>
      <ul>
        {refused.map(({ subject, receivedAt, verdict, message }) => (
          <li>
            <strong>{subject}</strong>, <Moment at={receivedAt} />:{' '}
            {isRefusal(verdict) ? REFUSAL_WORDS[verdict].title : verdict} <span class="small">{message}</span>
          </li>
        ))}
      </ul>
    </details>
  );
};
