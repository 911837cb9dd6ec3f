/** The result: how it ended, the answer, and for each claim the evidence that it rests on. */
import { z } from 'zod';
import { showInvisible } from '../../../responses/show-invisible';
import type { ResultView } from '../../schemas/result';
import { Notice, StateBadge } from '../render/parts';
import { STATE_WORDS } from '../words';
import { EvidenceLink } from './evidence-link';
import type { ShownRun } from './load-run';
import { ModelLine } from './model-line';

export const Result = ({ shown }: { readonly shown: ShownRun }) => {
  const { result, details } = shown;
  if (result === undefined) return null;
  return (
    <section class="card result" aria-labelledby="result-title">
      <h2 id="result-title">Result{result.version > 1 ? `, version ${String(result.version)}` : ''}</h2>
      <p>
        <StateBadge state={result.terminal} /> {STATE_WORDS[result.terminal].says} (
        <code>{showInvisible(result.reason)}</code>)
      </p>
      <p class="small">
        <ModelLine model={details.model} />
      </p>
      {result.answer === '' ? null : <p class="answer">{showInvisible(result.answer)}</p>}
      <Claims result={result} shown={shown} />
      {result.warnings.length === 0 ? null : (
        <Notice tone="warn" title="To be known">
          <ul>
            {result.warnings.map((warning) => (
              <li>{showInvisible(warning)}</li>
            ))}
          </ul>
        </Notice>
      )}
      <Diagnosis diagnosis={result.diagnosis} />
      <Resolutions result={result} />
    </section>
  );
};

const Claims = ({ result, shown: { details } }: { readonly result: ResultView; readonly shown: ShownRun }) =>
  result.claims.length === 0 ? null : (
    <>
      <h3>What it claims, and on which evidence</h3>
      <ul class="claims">
        {result.claims.map(({ text, evidence }) => (
          <li>
            {showInvisible(text)}{' '}
            {evidence.map((id) => (
              <>
                <EvidenceLink id={id} details={details} />{' '}
              </>
            ))}
          </li>
        ))}
      </ul>
    </>
  );

const DIAGNOSIS = z.object({ rule: z.string(), steps: z.array(z.number()), what: z.string() });

const Diagnosis = ({ diagnosis }: Pick<ResultView, 'diagnosis'>) => {
  const parsed = DIAGNOSIS.safeParse(diagnosis);
  if (!parsed.success) return null;
  const { rule, steps, what } = parsed.data;
  return (
    <Notice tone="bad" title="Stopped by a loop rule">
      <p>
        <code>{rule}</code> in steps {steps.join(', ')}: {showInvisible(what)}
      </p>
    </Notice>
  );
};

const RESOLUTIONS = z.array(
  z.object({
    operation: z.string(),
    to: z.string(),
    by: z.object({ kind: z.string(), subject: z.string().optional() }),
    why: z.string().optional(),
  }),
);

const Resolutions = ({ result }: { readonly result: ResultView }) => {
  const parsed = RESOLUTIONS.safeParse(result['resolutions']);
  if (!parsed.success || parsed.data.length === 0) return null;
  return (
    <>
      <h3>Found out since</h3>
      <ul>
        {parsed.data.map(({ operation, to, by, why }) => (
          <li>
            <code>{operation}</code> {to}, by {by.kind === 'person' ? showInvisible(by.subject ?? 'a person') : by.kind}
            {why === undefined ? '' : `: ${showInvisible(why)}`}
          </li>
        ))}
      </ul>
    </>
  );
};
