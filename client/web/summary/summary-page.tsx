/** What the runs of a period add up to. Each figure says what it counts. */
import { TERMINALS } from '../../../workflows/machine/states';
import type { SummaryView } from '../../schemas/summary';
import { formatCost, formatCount, formatDuration } from '../../views/format';
import type { PageContext } from '../page-env';
import { renderPage } from '../render/layout';
import { describeMoment, Notice, StateBadge } from '../render/parts';

export interface SummaryProps {
  readonly summary: SummaryView;
  /** As the form has it: days, both included. */
  readonly asked: { readonly from: string; readonly to: string; readonly agent?: string };
  readonly problem?: string;
}

export const renderSummary = (c: PageContext, { summary, asked, problem }: SummaryProps) =>
  renderPage(c, {
    title: 'Summary',
    here: 'summary',
    children: (
      <>
        <div class="heading">
          <h1>Summary</h1>
          <p>About all runs that were started in a period, by what is recorded of them.</p>
        </div>
        <PeriodForm {...asked} />
        {problem === undefined ? null : (
          <Notice tone="bad" title="This period cannot be shown." isUrgent>
            <p>{problem}</p>
          </Notice>
        )}
        <p class="small">
          From {describeMoment(summary.from)} until {describeMoment(summary.to)}
          {summary.agent === undefined ? '' : `, agent ${summary.agent}`}
        </p>
        <Figures {...summary} />
        <TimeShares {...summary} />
        <Ends {...summary} />
      </>
    ),
  });

const PeriodForm = ({ from, to, agent = '' }: SummaryProps['asked']) => (
  <form class="search period" method="get" action="/summary" aria-label="Period">
    <div class="field">
      <label for="from">From</label>
      <input id="from" name="from" type="date" value={from} />
    </div>
    <div class="field">
      <label for="to">To, included</label>
      <input id="to" name="to" type="date" value={to} />
    </div>
    <div class="field">
      <label for="agent">Agent</label>
      <input id="agent" name="agent" value={agent} maxlength={100} />
    </div>
    <button>Show</button>
  </form>
);

interface Figure {
  readonly name: string;
  readonly value: string;
  readonly says: string;
}

const rate = (value: number | null): string => (value === null ? '–' : `${(value * 100).toFixed(1)} %`);

const goingOn = ({ active }: SummaryView): string => (active === 0 ? '' : `; ${formatCount(active)} go on`);

const figuresOf = (summary: SummaryView): readonly Figure[] => [
  {
    name: 'Completion rate',
    value: rate(summary.completionRate),
    says: `${formatCount(summary.ended.SUCCEEDED)} SUCCEEDED of all that have ended${goingOn(summary)}`,
  },
  {
    name: 'Premature-finish rate',
    value: rate(summary.prematureFinishRate),
    says: 'of the runs whose model said it was done: those in which records did not bear it out at least once',
  },
  {
    name: 'No-progress stops',
    value: formatCount(summary.noProgressStops),
    says: `ended or handed over by a loop rule; ${formatCount(summary.corrections)} were put right by a correction step`,
  },
  {
    name: 'Cost per qualified task',
    value: summary.costMicrosPerQualifiedTask === null ? '–' : formatCost(summary.costMicrosPerQualifiedTask),
    says: `${formatCost(summary.costMicros)} for all runs, failed ones included, by those that SUCCEEDED`,
  },
];

const Figures = (summary: SummaryView) => (
  <section aria-label="Figures">
    <dl class="figures">
      {figuresOf(summary).map(({ name, value, says }) => (
        <div class="card">
          <dt>{name}</dt>
          <dd class="figure">{value}</dd>
          <dd class="small">{says}</dd>
        </div>
      ))}
    </dl>
  </section>
);

const TimeShares = ({ systemMs, userMs }: SummaryView) => {
  const total = systemMs + userMs;
  return (
    <section class="card" aria-labelledby="time">
      <h2 id="time">Where the time went</h2>
      {total === 0 ? (
        <p class="empty">No run has ended.</p>
      ) : (
        <>
          <ShareBar share={systemMs / total} />
          <ul class="legend">
            <li class="system">
              Systems: {formatDuration(systemMs)} ({rate(systemMs / total)})
            </li>
            <li class="user">
              People: {formatDuration(userMs)} ({rate(userMs / total)})
            </li>
          </ul>
          <p class="small">Of ended runs: the time in which a person was waited for, and all other time.</p>
        </>
      )}
    </section>
  );
};

const ShareBar = ({ share }: { readonly share: number }) => (
  <svg class="bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true" focusable="false">
    <rect class="user" x="0" y="0" width="100" height="4" />
    <rect class="system" x="0" y="0" width={(share * 100).toFixed(2)} height="4" />
  </svg>
);

const Ends = ({ started, active, ended }: SummaryView) => (
  <section class="card" aria-labelledby="ends">
    <h2 id="ends">How they ended</h2>
    <p>
      {formatCount(started)} were started, {formatCount(active)} go on.
    </p>
    <ul class="counts">
      {TERMINALS.map((terminal) => (
        <li>
          <a href={`/runs?state=${terminal}`}>
            <StateBadge state={terminal} />
          </a>{' '}
          <strong>{formatCount(ended[terminal])}</strong>
        </li>
      ))}
    </ul>
  </section>
);
