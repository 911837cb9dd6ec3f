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
    const known = nameOf(field, value);
    return [known, Math.min(limits[known], readLimit(field, value))] as const;
  });
  const changes: Partial<Record<Narrowable, number>> = Object.fromEntries(narrower);
  return { ...limits, ...changes };
};

const nameOf = (field: string, value: unknown): Narrowable => {
  const known = NARROWABLE.find((each) => each === field);
  if (known === undefined) throw new LimitsInvalid(field, value);
  return known;
};

const readLimit = (field: string, value: unknown): number => {
  if (typeof value === 'number' && value >= 0) return value;
  throw new LimitsInvalid(field, value);
};

/** What somebody was permitted to extend stands in place of the agent's own. */
export const limitsOf = (
  { limits, extension = {} }: Pick<RunRow, 'limits' | 'extension'>,
  snapshot: Pick<DefinitionSnapshot, 'limits'>,
): Limits => {
  const extended: Partial<Record<Narrowable, number>> = Object.fromEntries(
    Object.entries(extension).map(([field, value]) => [nameOf(field, value), readLimit(field, value)] as const),
  );
  const own: Limits = { ...snapshot.limits, ...extended };
  return narrowLimits(own, limits);
};
