/** What the run did: in each step its attempts, what was decided about them, and the operations that came of it. */
import { showInvisible } from '../../../responses/show-invisible';
import type { DetailsView } from '../../schemas/details';
import { formatCost, formatCount } from '../../views/format';
import { Badge } from '../render/parts';
import type { Tone } from '../words';
import { EvidenceLink, hrefOfArtifact } from './evidence-link';
import type { ShownRun } from './load-run';

const MAX_STEPS = 25;

interface StepsProps {
  readonly shown: ShownRun;
  readonly areAllAsked: boolean;
}

export const Steps = ({ shown: { details }, areAllAsked }: StepsProps) => {
  const steps = stepsOf(details);
  const listed = areAllAsked ? steps : steps.slice(-MAX_STEPS);
  const last = steps.at(-1);
  return (
    <>
      {listed.length === steps.length ? null : (
        <p>
          The last {listed.length} of {steps.length} steps. <a href="?steps=all">Show all</a>
        </p>
      )}
      {listed.map((step) => (
        <Step step={step} details={details} isOpen={step === last} />
      ))}
      {steps.length === 0 ? <p class="empty">No step has begun.</p> : null}
    </>
  );
};

const stepsOf = ({ attempts, operations, decisions }: DetailsView): readonly number[] =>
  [...new Set([...attempts, ...operations, ...decisions].map(({ step }) => step))].sort((a, b) => a - b);

interface StepProps {
  readonly step: number;
  readonly details: DetailsView;
  readonly isOpen: boolean;
}

const Step = ({ step, details, isOpen }: StepProps) => {
  const attempts = details.attempts.filter((each) => each.step === step);
  const operations = details.operations.filter((each) => each.step === step);
  const [first] = attempts;
  return (
    <details class="card step" id={`step-${String(step)}`} open={isOpen}>
      <summary>
        <strong>Step {step}</strong> <StepGist attempts={attempts} operations={operations} />
      </summary>
      {first === undefined ? null : (
        <p class="small">
          Every attempt of this step was given the same{' '}
          <a href={hrefOfArtifact(details.run.run, first.context)}>context</a>.
        </p>
      )}
      {attempts.map((attempt) => (
        <AttemptView attempt={attempt} details={details} />
      ))}
      {operations.length === 0 ? null : <h3>Operations</h3>}
      <ul class="operations">
        {operations.map((operation) => (
          <OperationView operation={operation} details={details} />
        ))}
      </ul>
    </details>
  );
};

type Attempt = DetailsView['attempts'][number];
type Operation = DetailsView['operations'][number];
type Decision = DetailsView['decisions'][number];

const StepGist = (props: { readonly attempts: readonly Attempt[]; readonly operations: readonly Operation[] }) => (
  <span class="small gist">
    {props.attempts.length > 1 ? `${String(props.attempts.length)} attempts ` : ''}
    {props.operations.map(({ tool, state }) => (
      <span>
        <code>{showInvisible(tool)}</code> <Badge tone={toneOf(state)}>{state}</Badge>{' '}
      </span>
    ))}
  </span>
);

const TONES: Readonly<Record<string, Tone>> = {
  SUCCEEDED: 'good',
  STORED: 'good',
  FAILED: 'bad',
  LOST: 'bad',
  REFUSED: 'bad',
  UNKNOWN: 'warn',
  UNRESOLVED: 'warn',
  ACCEPTED: 'warn',
  RUNNING: 'warn',
  NOT_EXECUTED: 'calm',
  CANCELLED: 'calm',
};

const toneOf = (state: string): Tone => TONES[state] ?? 'busy';

const AttemptView = ({ attempt, details }: { readonly attempt: Attempt; readonly details: DetailsView }) => {
  const { step, state, usage, candidate, outcome } = attempt;
  const own = details.decisions.filter((each) => each.step === step && each.attempt === attempt.attempt);
  const code = outcome?.['code'];
  return (
    <div class="attempt">
      <h3>
        Attempt {attempt.attempt} <Badge tone={toneOf(state)}>{state}</Badge>
      </h3>
      <p class="small">
        {formatCount(usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens)} tokens in,{' '}
        {formatCount(usage.outputTokens)} out, {formatCost(usage.costMicros)}
        {usage.isEstimate ? ' (estimated)' : ''}
        {typeof code === 'string' ? `, ${showInvisible(code)}` : ''}
        {candidate === undefined ? null : (
          <>
            {' · '}
            <a href={hrefOfArtifact(details.run.run, candidate)}>what it produced</a>
          </>
        )}
      </p>
      <Decisions decisions={own} id={`decisions-${String(step)}-${String(attempt.attempt)}`} />
    </div>
  );
};

const VERDICTS: Readonly<Record<Decision['verdict'], { readonly tone: Tone; readonly name: string }>> = {
  pass: { tone: 'good', name: 'holds' },
  fail: { tone: 'bad', name: 'does not hold' },
  ask: { tone: 'warn', name: 'ask a person' },
};

const Decisions = ({ decisions, id }: { readonly decisions: readonly Decision[]; readonly id: string }) => {
  if (decisions.length === 0) return null;
  const others = decisions.filter(({ verdict }) => verdict !== 'pass').length;
  return (
    <details id={id} open={others > 0}>
      <summary>
        {decisions.length} decisions{others === 0 ? ', all hold' : '; not all hold'}
      </summary>
      <ul class="decisions">
        {decisions.map((decision) => (
          <li>
            <Badge tone={VERDICTS[decision.verdict].tone}>{VERDICTS[decision.verdict].name}</Badge>{' '}
            <code>
              {decision.validator}@{decision.validatorVersion}
            </code>{' '}
            <span class="small">
              at {decision.phase}, of {decision.ordinal === 0 ? 'the candidate' : `call ${String(decision.ordinal)}`}
              {decision.code === undefined ? '' : `, ${decision.code}`}
              {Object.keys(decision.evidence).length === 0
                ? ''
                : `: ${showInvisible(JSON.stringify(decision.evidence))}`}
            </span>
          </li>
        ))}
      </ul>
    </details>
  );
};

const OperationView = ({ operation, details }: { readonly operation: Operation; readonly details: DetailsView }) => {
  const { run } = details.run;
  const { output, failure, raw, evidence } = operation;
  const artifacts = [
    { name: 'arguments', hash: operation.arguments },
    { name: 'result', hash: output },
    { name: 'failure', hash: failure },
    { name: 'reply as it came', hash: raw },
  ];
  return (
    <li>
      <p>
        <code>{showInvisible(operation.tool)}</code> <Badge tone={toneOf(operation.state)}>{operation.state}</Badge>{' '}
        {operation.effect === 'write' ? <Badge tone="calm">write</Badge> : null}{' '}
        {operation.target === undefined ? '' : showInvisible(operation.target)}
        {operation.expectedVersion === undefined ? '' : `, at version ${showInvisible(operation.expectedVersion)}`}
      </p>
      <p class="small">
        <code>{operation.id}</code>
        {operation.generation > 1 ? `, sent ${String(operation.generation)} times with one key` : ''}
        {operation.job === undefined ? '' : `, job ${showInvisible(operation.job)}`}
        {operation.code === undefined ? '' : `, ${operation.code}`}
        {operation.equivalent === undefined ? '' : `, the same as ${operation.equivalent}`}
        {operation.lookUps + operation.polls === 0
          ? ''
          : `, looked up ${String(operation.lookUps)} and polled ${String(operation.polls)} times`}
      </p>
      <p class="small links">
        {evidence === undefined ? null : <EvidenceLink id={evidence} details={details} />}{' '}
        {artifacts.map(({ name, hash }) =>
          hash === undefined ? null : (
            <>
              <a href={hrefOfArtifact(run, hash)}>{name}</a>{' '}
            </>
          ),
        )}
      </p>
    </li>
  );
};
