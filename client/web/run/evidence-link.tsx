/** From the id of a piece of evidence to the artifact that holds it. */
import type { DetailsView } from '../../schemas/details';

export interface EvidenceProps {
  readonly id: string;
  readonly details: Pick<DetailsView, 'run' | 'operations' | 'waits'>;
}

export const EvidenceLink = ({ id, details }: EvidenceProps) => {
  const href = hrefOfEvidence(id, details);
  return href === undefined ? (
    <code>{id}</code>
  ) : (
    <a class="evidence" href={href}>
      {id}
    </a>
  );
};

const OF_OPERATION = /^E(\d+)\.(\d+)$/;
const OF_WAIT = /^W(\d+)\.(\d+)$/;

/** `E3.1` is the result of operation 1 of step 3, `W17.0` the answer to the wait that event 17 opened. */
const hrefOfEvidence = (id: string, { run, operations, waits }: EvidenceProps['details']): string | undefined => {
  const [, step, ordinal] = OF_OPERATION.exec(id) ?? [];
  if (step !== undefined) {
    const hash = operations.find((each) => each.step === Number(step) && each.ordinal === Number(ordinal))?.output;
    return hash === undefined ? undefined : hrefOfArtifact(run.run, hash);
  }
  const [, seq, index] = OF_WAIT.exec(id) ?? [];
  const wait = waits.find((each) => seq !== undefined && each.wait.endsWith(`_${seq}_${String(index)}`));
  return wait === undefined ? undefined : `/waits/${wait.wait}`;
};

export const hrefOfArtifact = (run: string, hash: string): string => `/runs/${run}/artifacts/${hash}`;
