/** What the run did: in each step its attempts, what was decided about them, and the operations that came of it. */
import { showInvisible } from '../../../responses/show-invisible';
import type { ShownDetails, StepPage } from '../../direct/read-shown-run';
import type { DetailsView } from '../../schemas/details';
import { formatCost, formatCount } from '../../views/format';
import { Badge } from '../render/parts';
import type { Tone } from '../words';
import { EvidenceLink, hrefOfArtifact } from './evidence-link';
import type { ShownRun } from './load-run';

export const Steps = ({ shown: { details } }: { readonly shown: ShownRun }) => {
  const { page, run } = details;
  if (page === undefined) return <p class="empty">No step has begun.</p>;
  return (
    <>
      <StepPages page={page} run={run.run} />
      {stepsOf(details, page).map((step) => (
        <Step step={step} details={details} isOpen={step === page.last} />
      ))}
    </>
  );
};

/** There are operations of other steps among the details: evidence, and what is still to be resolved. */
const stepsOf = ({ attempts, operations, decisions }: ShownDetails, { from, to }: StepPage): readonly number[] =>
  [...new Set([...attempts, ...operations, ...decisions].map(({ step }) => step))]
    .filter((step) => step >= from && step <= to)
    .sort((a, b) => a - b);

const StepPages = ({ page, run }: { readonly page: StepPage; readonly run: string }) => {
  const { from, to, last, older, newer } = page;
  if (older === undefined && newer === undefined) return null;
  const href = (before: number | 'newest'): string =>
    `/runs/${run}${before === 'newest' ? '' : `?before=${String(before)}`}#steps-title`;
  return (
    <nav class="pages" aria-label="Pages of steps">
      {older === undefined ? null : <a href={href(older)}>Older steps</a>}
      <span class="small">
        Steps {formatCount(from)} to {formatCount(to)} of {formatCount(last)}
      </span>
      {newer === undefined ? null : <a href={href(newer)}>Newer steps</a>}
    </nav>
  );
};

interface StepProps {
  readonly step: number;
  readonly details: ShownDetails;
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

const AttemptView = ({ attempt, details }: { readonly attempt: Attempt; readonly details: ShownDetails }) => {
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

const OperationView = ({ operation, details }: { readonly operation: Operation; readonly details: ShownDetails }) => {
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
