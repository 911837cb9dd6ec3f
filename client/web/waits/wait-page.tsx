/** One wait: what is asked, who asks, and the forms to answer it. */
import type { WaitView } from '../../schemas/wait';
import type { PageContext } from '../page-env';
import { renderPage } from '../render/layout';
import { Back, KindBadge, Moment, Notice, RunLink, Term, TimeLeft, WaitStateBadge } from '../render/parts';
import { KIND_WORDS } from '../words';
import { AnswerForms } from './answer-forms';
import { DecidedView, RefusedResponses } from './decided-view';
import { PlanView } from './plan-view';
import { REFUSAL_WORDS } from './refusal-words';
import type { ResponseRefusal } from '../../../responses/refusals';
import type { FormValues } from './form-fields';

/** What a form sent that was not taken, so that nobody has to write it again. */
export interface Attempted {
  readonly form: string;
  readonly values: FormValues;
  /** Of the field at fault. */
  readonly field?: string;
  readonly message: string;
  readonly refusal?: ResponseRefusal;
}

export interface WaitPageProps {
  readonly wait: WaitView;
  /** The role is there; the policy has the last word. */
  readonly mayAnswer: boolean;
  readonly isJustAnswered?: boolean;
  readonly attempted?: Attempted;
}

export const renderWait = (c: PageContext, props: WaitPageProps) => {
  const { wait, attempted } = props;
  const { name, asks } = KIND_WORDS[wait.kind];
  return renderPage(c, {
    title: `${name}: ${asks}`,
    here: 'inbox',
    children: (
      <>
        <Back to="/inbox">Inbox</Back>
        <div class="heading">
          <h1>{asks}</h1>
          <p class="marks" id="wait-state" data-live data-version={wait.state} data-every-ms="3000">
            <KindBadge kind={wait.kind} /> <WaitStateBadge state={wait.state} />{' '}
            {wait.state === 'OPEN' ? <TimeLeft remainingMs={wait.remainingMs} /> : null}
          </p>
        </div>
        {props.isJustAnswered === true && wait.state !== 'OPEN' ? (
          <Notice tone="good" title="Your answer was taken.">
            <p>
              The run goes on with it: <RunLink run={wait.run} />
            </p>
          </Notice>
        ) : null}
        {attempted === undefined ? null : <Refused attempted={attempted} />}
        <div id="wait-outcome" data-live data-version={wait.state}>
          <DecidedView wait={wait} />
        </div>
        <PlanView wait={wait} />
        <div id="wait-answer" data-live data-version={wait.state}>
          <Answering c={c} {...props} />
        </div>
        <AskedBy wait={wait} />
        <RefusedResponses wait={wait} />
      </>
    ),
  });
};

const Refused = ({ attempted }: { readonly attempted: Attempted }) => {
  const words = attempted.refusal === undefined ? undefined : REFUSAL_WORDS[attempted.refusal];
  const isMendable = words?.isMendable === true || attempted.refusal === undefined;
  return (
    <Notice tone={isMendable ? 'bad' : 'warn'} title={words?.title ?? 'Something is missing'} isUrgent>
      <p>
        Your answer changed nothing. {isMendable ? '' : words?.text}
        {isMendable ? attempted.message : ''}
      </p>
    </Notice>
  );
};

const Answering = ({ c, wait, mayAnswer, attempted }: WaitPageProps & { readonly c: PageContext }) => {
  if (wait.state !== 'OPEN') return null;
  if (wait.remainingMs === 0) {
    return (
      <Notice tone="bad" title="The time to answer is over.">
        <p>An answer would not count any more. The run goes on as the agent's definition says.</p>
      </Notice>
    );
  }
  if (!mayAnswer || !wait.mayRespond) {
    return (
      <Notice tone="calm" title="Somebody else has to answer.">
        <p>
          {mayAnswer
            ? "The agent's policy does not let you answer this."
            : 'Your token has not the role approver: you can read this, and not answer it.'}
        </p>
      </Notice>
    );
  }
  return <AnswerForms c={c} wait={wait} {...(attempted === undefined ? {} : { attempted })} />;
};

const AskedBy = ({ wait }: { readonly wait: WaitView }) => (
  <section class="card" aria-labelledby="who">
    <h2 id="who">Who asks, and for whom</h2>
    <dl class="terms">
      <Term name="Goal">{wait.goal}</Term>
      <Term name="Asked for by">{wait.requester}</Term>
      <Term name="Agent">{wait.agent}</Term>
      <Term name="Run">
        <RunLink run={wait.run} />
      </Term>
      {wait.operation === undefined ? null : (
        <Term name="Operation">
          <code>{wait.operation}</code>
        </Term>
      )}
      {wait.reason === undefined ? null : <Term name="Reason">{wait.reason}</Term>}
      <Term name="Asked at">
        <Moment at={wait.openedAt} />
      </Term>
      <Term name="Expires at">
        <Moment at={wait.expiresAt} />
      </Term>
      <Term name="Plan version">{wait.planVersion}</Term>
    </dl>
  </section>
);
