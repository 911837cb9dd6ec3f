/** The limits that a run is held to: its agent's, narrowed by what the caller asked for and never widened. */
import type { DefinitionSnapshot } from '../../definition/snapshot';
import type { RunRow } from '../../store/rows';
import type { JsonObject } from '../../workflows/contract/json';
import type { Limits } from '../../workflows/machine/limits';

/** Those of which a smaller number is a narrower limit. */
export const NARROWABLE = [
  'maxSteps',
  'maxTokens',
  'maxCostMicros',
  'maxToolCalls',
  'deadlineMs',
  'maxRepairs',
  'maxProviderFailures',
  'maxLostAttempts',
  'maxTruncations',
  'maxPauses',
  'maxAnalyses',
] as const satisfies readonly (keyof Limits)[];
type Narrowable = (typeof NARROWABLE)[number];

export class LimitsInvalid extends Error {
  readonly code = 'limits.invalid';
  readonly isRetryable = false;
  constructor(
    readonly field: string,
    readonly value: unknown,
  ) {
    super(
      `limits.${field}: got ${JSON.stringify(value)}, expected a number of at least 0 for one of ${NARROWABLE.join(', ')}`,
    );
    this.name = 'LimitsInvalid';
  }
}

/** Throws LimitsInvalid: a limit that is not understood must not be passed over. */
export const narrowLimits = (limits: Limits, asked: JsonObject = {}): Limits => {
  const narrower = Object.entries(asked).map(([field, value]) => {
    const known = NARROWABLE.find((each) => each === field);
    if (known === undefined || typeof value !== 'number' || !(value >= 0)) throw new LimitsInvalid(field, value);
    return [known, Math.min(limits[known], value)] as const;
  });
  const changes: Partial<Record<Narrowable, number>> = Object.fromEntries(narrower);
  return { ...limits, ...changes };
};

export const limitsOf = (row: Pick<RunRow, 'limits'>, snapshot: Pick<DefinitionSnapshot, 'limits'>): Limits =>
  narrowLimits(snapshot.limits, row.limits);
