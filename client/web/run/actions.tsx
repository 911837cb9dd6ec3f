/** What a person may do with a run: cancel it, send it a message, and after its end say what became of an operation. */
import { randomUUID } from 'node:crypto';
import type { Child } from 'hono/jsx';
import { showInvisible } from '../../../responses/show-invisible';
import { RESOLVED_STATES } from '../../../workflows/contract/reconcile';
import type { DetailsView } from '../../schemas/details';
import type { PageContext } from '../page-env';
import { FormToken } from '../render/layout';
import { KIND_WORDS } from '../words';
import type { ShownRun } from './load-run';

interface ActionsProps {
  readonly c: PageContext;
  readonly shown: ShownRun;
}

export const Actions = (props: ActionsProps) => {
  const { run } = props.shown.details;
  return (
    <section aria-labelledby="actions-title">
      <h2 id="actions-title">What you can do</h2>
      {run.terminal === undefined ? <WhileItGoesOn {...props} /> : <AfterItsEnd {...props} />}
    </section>
  );
};

interface ActionFormProps extends ActionsProps {
  readonly action: 'cancel' | 'messages' | 'resolutions';
  readonly children?: Child;
}

const ActionForm = ({ c, shown, action, children }: ActionFormProps) => (
  <form method="post" action={`/runs/${shown.details.run.run}/${action}`} class="stack" data-once>
    <FormToken c={c} />
    <input type="hidden" name="id" value={randomUUID()} />
    {children}
  </form>
);

const WhileItGoesOn = (props: ActionsProps) => (
  <>
    <details class="card" id="message">
      <summary>Change what it is to do</summary>
      <ActionForm {...props} action="messages">
        <input type="hidden" name="kind" value="amend" />
        <Text
          id="amend-text"
          label="What is to be different"
          hint="The agent is told it in its next step. What is asked of people now is void."
        />
        <button>Change the plan</button>
      </ActionForm>
    </details>
    <Withdraw {...props} />
    <NewGoal {...props} />
    <details class="card" id="cancel">
      <summary>Cancel it</summary>
      {props.shown.details.run.cancelRequestedAt === undefined ? (
        <>
          <p>Nothing new is done from then on. What was sent already is looked after until its end is known.</p>
          <ActionForm {...props} action="cancel">
            <button class="danger">Cancel this run</button>
          </ActionForm>
        </>
      ) : (
        <p>A cancel was asked for already.</p>
      )}
    </details>
  </>
);

const NewGoal = (props: ActionsProps) => (
  <details class="card" id="new-goal">
    <summary>Start another run that follows it</summary>
    <ActionForm {...props} action="messages">
      <input type="hidden" name="kind" value="new_goal" />
      <Text id="goal-text" label="Its goal" hint="This run goes on as it is." />
      <button>Start</button>
    </ActionForm>
  </details>
);

const Withdraw = (props: ActionsProps) => {
  const open = props.shown.details.waits.filter(({ state }) => state === 'OPEN');
  if (open.length === 0) return null;
  return (
    <details class="card" id="withdraw">
      <summary>Take back what it asks</summary>
      <ActionForm {...props} action="messages">
        <input type="hidden" name="kind" value="withdraw" />
        <div class="field">
          <label for="withdraw-wait">What is taken back</label>
          <select id="withdraw-wait" name="wait">
            {open.map(({ wait, kind, operation }) => (
              <option value={wait}>
                {KIND_WORDS[kind].name} {operation ?? wait}
              </option>
            ))}
          </select>
        </div>
        <Text id="withdraw-text" label="Why (optional)" hint="The agent is told it." isOptional />
        <button>Take it back</button>
      </ActionForm>
    </details>
  );
};

interface TextProps {
  readonly id: string;
  readonly label: string;
  readonly hint: string;
  readonly isOptional?: boolean;
}

const Text = ({ id, label, hint, isOptional = false }: TextProps) => (
  <div class="field">
    <label for={id}>{label}</label>
    <p class="hint" id={`${id}-hint`}>
      {hint}
    </p>
    <textarea
      id={id}
      name="text"
      rows={3}
      maxlength={20_000}
      required={!isOptional}
      aria-describedby={`${id}-hint`}
    ></textarea>
  </div>
);

/** Nobody has proved what became of these. */
const UNPROVED: ReadonlySet<string> = new Set(['DISPATCHED', 'ACCEPTED', 'RUNNING', 'UNKNOWN', 'UNRESOLVED']);

const AfterItsEnd = (props: ActionsProps) => {
  const unproved = props.shown.details.operations.filter(
    ({ effect, state }) => effect === 'write' && UNPROVED.has(state),
  );
  return (
    <>
      {unproved.length === 0 ? (
        <p class="empty">It has ended, and what became of every operation is known.</p>
      ) : (
        unproved.map((operation) => <Resolve {...props} operation={operation} />)
      )}
      <NewGoal {...props} />
    </>
  );
};

const STATE_NAMES: Readonly<Record<(typeof RESOLVED_STATES)[number], string>> = {
  SUCCEEDED: 'It was done',
  FAILED: 'It was tried, and failed',
  NOT_EXECUTED: 'It never happened',
};

const Resolve = (props: ActionsProps & { readonly operation: DetailsView['operations'][number] }) => {
  const { id, tool, state, target } = props.operation;
  return (
    <div class="card" id={`resolve-${id}`}>
      <h3>What became of {showInvisible(tool)}?</h3>
      <p>
        <code>{id}</code> {target === undefined ? '' : `on ${showInvisible(target)} `}is {state}: nobody has proved what
        became of it. Look at the outside system, then say it here.
      </p>
      <ActionForm {...props} action="resolutions">
        <input type="hidden" name="operation" value={id} />
        <fieldset class="field">
          <legend>What you found out</legend>
          {RESOLVED_STATES.map((each) => (
            <label class="option" for={`${id}-${each}`}>
              <input id={`${id}-${each}`} type="radio" name="state" value={each} required />
              <span>
                {STATE_NAMES[each]} <span class="small">({each})</span>
              </span>
            </label>
          ))}
        </fieldset>
        <div class="field">
          <label for={`${id}-why`}>How you know</label>
          <textarea id={`${id}-why`} name="why" rows={2} maxlength={2000} required></textarea>
        </div>
        <button class="primary">Record it</button>
      </ActionForm>
    </div>
  );
};
