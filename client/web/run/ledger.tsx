/** What the run has spent of what it may spend. */
import { tokensOf } from '../../../workflows/machine/ledger';
import { formatCost, formatCount, formatDuration } from '../../views/format';
import type { ShownRun } from './load-run';

interface Account {
  readonly name: string;
  readonly spent: number;
  readonly limit: number | undefined;
  readonly format: (value: number) => string;
}

const accountsOf = ({ details: { run, budgets }, times }: ShownRun): readonly Account[] => [
  { name: 'Steps', spent: run.totals.steps, limit: budgets?.maxSteps, format: formatCount },
  { name: 'Tokens', spent: tokensOf(run.totals), limit: budgets?.maxTokens, format: formatCount },
  { name: 'Cost', spent: run.totals.costMicros, limit: budgets?.maxCostMicros, format: formatCost },
  { name: 'Tool calls', spent: run.totals.toolCalls, limit: budgets?.maxToolCalls, format: formatCount },
  { name: 'Time', spent: times.systemMs + times.userMs, limit: budgets?.deadlineMs, format: formatDuration },
];

export const Ledger = ({ shown }: { readonly shown: ShownRun }) => {
  const { attempts, estimatedTokens } = shown.details.run.totals;
  return (
    <>
      <ul class="accounts">
        {accountsOf(shown).map((account) => (
          <AccountView {...account} />
        ))}
      </ul>
      <p class="small">
        {formatCount(attempts)} model calls.
        {estimatedTokens === 0
          ? ''
          : ` ${formatCount(estimatedTokens)} of the tokens are an estimate: the figures never arrived.`}
      </p>
    </>
  );
};

const AccountView = ({ name, spent, limit, format }: Account) => {
  const said = limit === undefined ? format(spent) : `${format(spent)} of ${format(limit)}`;
  return (
    <li>
      <span class="account">
        <span>{name}</span> <span>{said}</span>
      </span>
      {limit === undefined || limit === 0 ? null : (
        <progress max={String(limit)} value={String(Math.min(spent, limit))} aria-label={`${name}: ${said}`}></progress>
      )}
    </li>
  );
};
