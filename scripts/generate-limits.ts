/** docs/generated/limits.md: what an agent is held to where it says nothing. */
import { DEFAULT_LIMITS, DEFAULT_WAITS } from '../definition/default-limits';

type Limit = Exclude<keyof typeof DEFAULT_LIMITS, 'loops'>;
type LoopLimit = keyof typeof DEFAULT_LIMITS.loops;

const LIMITS: Readonly<Record<Limit, string>> = {
  maxSteps: 'model calls that change the context, in all',
  maxTokens: 'input, output and cache tokens together',
  maxCostMicros: 'millionths of a dollar, by the prices of the model route',
  maxToolCalls: 'reads and operations that were sent',
  deadlineMs: 'wall clock from the opening, waiting for people included',
  maxRepairs: 'candidates in a row that went back with a finding',
  maxProviderFailures: 'attempts of one step that the provider may fail',
  maxLostAttempts: 'attempts of one step that were lost with their worker',
  maxTruncations: 'attempts of one step cut at the output limit; each gets twice the room',
  maxPauses: 'continuations of a paused turn, in a row',
  maxAnalyses: 'steps for thinking only, in a row',
  backOffBaseMs: 'the first back-off after a failed attempt; it doubles',
  backOffMaxMs: 'the longest back-off',
  maxRetryAfterMs: "a provider's `retry-after` above this ends the run",
  cancelGraceMs: 'what calls in flight are given once the run is ending',
  attemptTimeoutMs: 'one model call, from its start to its end',
  onRefusal: 'what follows when the model refuses: `fail` or `handoff`',
};

const LOOPS: Readonly<Record<LoopLimit, string>> = {
  repeatedCall: 'steps in which the same call gave the same result',
  repeatedError: 'consecutive steps that ended in the same error code',
  noProgress: 'consecutive steps without new evidence, anything settled, a gap closed or a choice narrowed',
  alternatingPlan: 'times that a plan alternates between the same two',
  onLoop: 'what follows when a rule fires again after its correction step: `fail` or `handoff`',
};

const row = (...cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;

const table = (head: readonly string[], rows: readonly string[]): string =>
  [row(...head), row(...head.map(() => '---')), ...rows].join('\n');

export const renderLimits = (): string => {
  const limits = parseEntries(LIMITS).map(([name, meaning]) => row(`\`${name}\``, DEFAULT_LIMITS[name], meaning));
  const loops = parseEntries(LOOPS).map(([name, meaning]) =>
    row(`\`loops.${name}\``, DEFAULT_LIMITS.loops[name], meaning),
  );
  const waits = Object.entries(DEFAULT_WAITS).map(([kind, { expiresInMs, onExpiry }]) =>
    row(kind, expiresInMs, `\`${onExpiry}\``),
  );
  return [
    '# Limits of an agent, by default',
    'An agent sets them in `budgets`, `limits`, `loops` and `waits`; a caller may only narrow them.',
    table(['limit', 'default', 'counts'], [...limits, ...loops]),
    'A wait that nobody answers ends the run (`end`), or tells the model (`tell-model`):',
    table(['wait', 'expires after ms', 'on expiry'], waits),
    '',
  ]
    .join('\n\n')
    .trimEnd()
    .concat('\n');
};

const parseEntries = <Name extends string>(
  record: Readonly<Record<Name, string>>,
): readonly (readonly [Name, string])[] => Object.entries(record) as unknown as readonly (readonly [Name, string])[];
