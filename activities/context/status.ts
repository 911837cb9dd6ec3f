/** The state of the run as a step is told it. From the manifest and what it names, so every attempt is told the same. */
import type { ArtifactHash } from '../../workflows/contract/ids';
import type { JsonObject } from '../../workflows/contract/json';
import type { Finding, Manifest, OperationSummary, ShownFact } from '../../workflows/contract/records';
import { renderFinding, renderGap } from './render-result';

/** What of a manifest the status tells. */
export type Told = Pick<Manifest, 'step' | 'gaps' | 'facts' | 'openOperations' | 'remaining' | 'adds'>;

export const renderStatus = (manifest: Told, finding: Finding | undefined): JsonObject => {
  const { step, gaps, facts, openOperations, remaining } = manifest;
  const correction = manifest.adds.find((addition) => addition.kind === 'correction')?.diagnosis;
  return {
    step,
    gaps: gaps.map(renderGap),
    facts: facts.map(renderFact),
    openOperations: openOperations.map(renderOperation),
    remaining: { ...remaining },
    ...(finding === undefined ? {} : { finding: renderFinding(finding) }),
    ...(correction === undefined ? {} : { correction: { ...correction } }),
  };
};

const renderFact = ({ object, field, value, valueBytes, version, evidence }: ShownFact): JsonObject => ({
  object,
  field,
  ...(value === undefined ? {} : { value }),
  ...(valueBytes === undefined ? {} : { valueBytes }),
  ...(version === undefined ? {} : { version }),
  evidence,
});

const renderOperation = ({ id, tool, state, target, evidence }: OperationSummary): JsonObject => ({
  id,
  tool,
  state,
  ...(target === undefined ? {} : { target }),
  ...(evidence === undefined ? {} : { evidence }),
});

/** Of the finding that this step's additions bring. */
export const findingHashOf = ({ adds }: Pick<Manifest, 'adds'>): ArtifactHash | undefined => {
  for (const addition of adds) {
    if ((addition.kind === 'exchange' || addition.kind === 'finding') && addition.finding !== undefined)
      return addition.finding;
  }
  return undefined;
};
