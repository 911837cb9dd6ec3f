/**
 * The forms of a wait. Each carries the id of its response, so that a second click is the same response, and the versions and
 * the token of what is shown, so that what has changed since is not answered by mistake.
 */
import { randomUUID } from 'node:crypto';
import type { Child } from 'hono/jsx';
import type { WaitView } from '../../schemas/wait';
import type { PageContext } from '../page-env';
import { FormToken } from '../render/layout';
import { FieldView } from './field-view';
import { fieldsOfArguments, fieldsOfResponse, type FormField, type FormValues } from './form-fields';
import { valuesOf } from './read-form';
import { argumentsOf } from './shown-arguments';
import type { Attempted } from './wait-page';

export interface AnswerProps {
  readonly c: PageContext;
  readonly wait: WaitView;
  readonly attempted?: Attempted;
}

export const AnswerForms = (props: AnswerProps) =>
  props.wait.kind === 'approval' ? <ApprovalForms {...props} /> : <SchemaForm {...props} />;

interface ResponseFormProps extends AnswerProps {
  readonly form: string;
  readonly children?: Child;
}

const ResponseForm = ({ c, wait, form, children }: ResponseFormProps) => (
  <form method="post" action={`/waits/${wait.wait}`} class="stack" id={form} data-once>
    <FormToken c={c} />
    <input type="hidden" name="form" value={form} />
    <input type="hidden" name="id" value={`resp_${randomUUID()}`} />
    <input type="hidden" name="stateVersion" value={String(wait.stateVersion)} />
    <input type="hidden" name="planVersion" value={String(wait.planVersion)} />
    {wait.token === undefined ? null : <input type="hidden" name="token" value={wait.token} />}
    {children}
  </form>
);

interface FieldsProps {
  readonly form: string;
  readonly fields: readonly FormField[];
  readonly values: FormValues;
  readonly attempted: Attempted | undefined;
}

const Fields = ({ form, fields, values, attempted }: FieldsProps) => {
  const own = attempted?.form === form ? attempted : undefined;
  return (
    <>
      {fields.map((field) => (
        <FieldView
          form={form}
          field={field}
          value={(own?.values ?? values)[field.name] ?? []}
          {...(own?.field === field.name ? { fault: own.message } : {})}
        />
      ))}
    </>
  );
};

const REASON: FormField = {
  name: 'reason',
  label: 'Reason',
  isRequired: false,
  control: { kind: 'text', isShort: false },
};
/** Fields that approving and denying have beside what they are about. */
export const APPROVE_FIELDS: readonly FormField[] = [REASON];
export const DENY_FIELDS: readonly FormField[] = [
  { ...REASON, label: 'Why not?', hint: 'The agent is told it, and may propose something else.', isRequired: true },
];

const ApprovalForms = (props: AnswerProps) => {
  const { wait, attempted } = props;
  return (
    <section class="answers" aria-label="Your decision">
      <div class="card">
        <h2>Approve</h2>
        <p>Exactly what is shown above is done, once.</p>
        <ResponseForm {...props} form="approve">
          <Fields form="approve" fields={APPROVE_FIELDS} values={{}} attempted={attempted} />
          <button class="primary">Approve</button>
        </ResponseForm>
      </div>
      <div class="card">
        <h2>Deny</h2>
        <p>It is not done, and not asked again as it is.</p>
        <ResponseForm {...props} form="deny">
          <Fields form="deny" fields={DENY_FIELDS} values={{}} attempted={attempted} />
          <button class="danger">Deny</button>
        </ResponseForm>
      </div>
      {wait.argumentSchema === undefined ? null : <EditForm {...props} />}
    </section>
  );
};

const EditForm = (props: AnswerProps) => {
  const { wait, attempted } = props;
  const shown = argumentsOf(wait);
  if (shown === undefined) return null;
  const fields = fieldsOfArguments(wait.argumentSchema, shown);
  return (
    <details class="card wide" id="edit-arguments" open={attempted?.form === 'edit'}>
      <summary>Approve with other arguments</summary>
      <p>They are checked as if the agent had proposed them. What is recorded shows both.</p>
      <ResponseForm {...props} form="edit">
        <Fields form="edit" fields={fields} values={valuesOf(fields, shown)} attempted={attempted} />
        <button class="primary">Approve with these arguments</button>
      </ResponseForm>
    </details>
  );
};

const SchemaForm = (props: AnswerProps) => {
  const { wait, attempted } = props;
  const fields = fieldsOfResponse(wait.responseSchema);
  if (fields === undefined) {
    return <p class="card">This answer cannot be given by a form: use the API or the command line.</p>;
  }
  return (
    <section class="card" aria-labelledby="answer-title">
      <h2 id="answer-title">Your answer</h2>
      <ResponseForm {...props} form="answer">
        <Fields form="answer" fields={fields} values={{}} attempted={attempted} />
        <button class="primary">Answer</button>
      </ResponseForm>
    </section>
  );
};
