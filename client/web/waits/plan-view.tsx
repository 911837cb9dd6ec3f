/** What is decided about, exactly as it would be sent: complete, or it says that it is not. */
import type { WaitView } from '../../schemas/wait';
import { formatCount } from '../../views/format';
import { Notice, Risk, Term } from '../render/parts';
import { JsonView } from '../render/json-view';

type Plan = Extract<WaitView['plan'], { kind: 'plan' }>;
type Question = Extract<WaitView['plan'], { kind: 'question' }>;
type Operation = Plan['operations'][number];

export const PlanView = ({ wait }: { readonly wait: WaitView }) => (
  <section class="card" aria-labelledby="asked">
    {wait.plan.kind === 'question' ? <QuestionText plan={wait.plan} /> : <PlanText plan={wait.plan} />}
    {wait.plan.isComplete ? null : (
      <Notice tone="bad" title="This is not all of it." isUrgent>
        <p>
          It is too large to be shown here. Read the whole of it before you decide:{' '}
          <a href={`/runs/${wait.run}/artifacts/${wait.planHash}`}>the whole plan</a>
        </p>
      </Notice>
    )}
  </section>
);

const QuestionText = ({ plan }: { readonly plan: Question }) => (
  <>
    <h2 id="asked">{plan.askedBy === 'model' ? 'The agent asks' : 'Holdfast asks'}</h2>
    <p class="asked">{plan.question}</p>
    {plan.candidates === undefined ? null : (
      <ul>
        {plan.candidates.map((candidate) => (
          <li>{candidate}</li>
        ))}
      </ul>
    )}
  </>
);

const PlanText = ({ plan }: { readonly plan: Plan }) => (
  <>
    <h2 id="asked">{plan.operations.length === 0 ? 'Why it is asked' : 'Exactly this is asked about'}</h2>
    {plan.operations.map((operation) => (
      <OperationView operation={operation} />
    ))}
    <h3>Why it is asked</h3>
    <p class="asked">{plan.why}</p>
    {plan.diagnosis === undefined ? null : (
      <p class="asked">
        Found by the rule <code>{plan.diagnosis.rule}</code> in steps {plan.diagnosis.steps.join(', ')}:{' '}
        {plan.diagnosis.what}
      </p>
    )}
    {plan.previous === undefined ? null : (
      <>
        <h3>What was approved before</h3>
        <p>The terms have changed since. An earlier approval does not count for what is asked now.</p>
        <JsonView value={plan.previous} />
      </>
    )}
  </>
);

const OperationView = ({ operation }: { readonly operation: Operation }) => (
  <article class="operation" aria-label={`Operation ${operation.operation}`}>
    <p class="tool">
      <code>{operation.tool}</code> <Risk risk={operation.risk} />
    </p>
    <dl class="terms">
      {operation.target === undefined ? null : <Term name="Changes">{operation.target}</Term>}
      {operation.expectedVersion === undefined ? null : (
        <Term name="Expected version">
          {operation.expectedVersion}; it is refused where the object has changed since
        </Term>
      )}
      {operation.repeats === undefined ? null : (
        <Term name="Repeats">
          <code>{operation.repeats}</code>, which did the same, or may have done it
        </Term>
      )}
    </dl>
    <h3>Arguments</h3>
    {operation.isComplete ? (
      <JsonView value={operation.arguments} />
    ) : (
      <>
        <p>The beginning of {formatCount(operation.bytes)} bytes:</p>
        <pre class="code">{operation.argumentsJson}</pre>
      </>
    )}
  </article>
);
