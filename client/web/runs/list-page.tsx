/** Runs, the newest first. */
import type { ListedRunView, RunPage } from '../../schemas/run';
import { RUN_STATES } from '../../schemas/run';
import { formatCost, formatNumberOf } from '../../views/format';
import { showInvisible } from '../../../responses/show-invisible';
import type { PageContext } from '../page-env';
import { renderPage } from '../render/layout';
import { Ago, formatRough, StateBadge } from '../render/parts';
import type { RunState } from '../words';

export interface Search {
  readonly search?: string;
  readonly agent?: string;
  readonly state?: RunState;
}

export interface RunListProps extends RunPage {
  readonly asked: Search;
  readonly isFirst: boolean;
  readonly nowMs: number;
}

export const renderRunList = (c: PageContext, props: RunListProps) =>
  renderPage(c, {
    title: 'Runs',
    here: 'runs',
    children: (
      <>
        <div class="heading">
          <h1>Runs</h1>
          <p>Each run is one task of one agent, for one person or system.</p>
        </div>
        <SearchForm {...props.asked} />
        <div id="runs" data-live data-every-ms={props.isFirst ? '3000' : undefined}>
          <RunTable {...props} />
        </div>
      </>
    ),
  });

const SearchForm = ({ search = '', agent = '', state }: Search) => (
  <form class="search" role="search" method="get" action="/runs">
    <div class="field">
      <label for="search">Id or words of the goal</label>
      <input id="search" name="search" type="search" value={search} maxlength={200} />
    </div>
    <div class="field">
      <label for="agent">Agent</label>
      <input id="agent" name="agent" value={agent} maxlength={100} />
    </div>
    <div class="field">
      <label for="state">State</label>
      <select id="state" name="state">
        <option value="">Any</option>
        {RUN_STATES.map((each) => (
          <option value={each} selected={each === state}>
            {each}
          </option>
        ))}
      </select>
    </div>
    <button>Search</button>
  </form>
);

const RunTable = ({ runs, cursor, asked, isFirst, nowMs }: RunListProps) => (
  <>
    {runs.length === 0 ? (
      <p class="empty">{isFirst ? 'No run is like that.' : 'There are no more.'}</p>
    ) : (
      <table class="list">
        <caption class="unseen">Runs, the newest first</caption>
        <thead>
          <tr>
            <th scope="col">Run</th>
            <th scope="col">State</th>
            <th scope="col">Agent</th>
            <th scope="col">Started</th>
            <th scope="col">Waiting for a person</th>
            <th scope="col" class="number">
              Cost
            </th>
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => (
            <RunRow run={run} nowMs={nowMs} />
          ))}
        </tbody>
      </table>
    )}
    <p class="pages">
      {isFirst ? null : <a href={`/runs?${queryOf(asked)}`}>First page</a>}{' '}
      {cursor === undefined ? null : <a href={`/runs?${queryOf({ ...asked, cursor })}`}>Next page</a>}
    </p>
  </>
);

const queryOf = (members: Search & { readonly cursor?: string }): string =>
  new URLSearchParams(
    Object.entries(members).map(([name, value]): [string, string] => [name, String(value)]),
  ).toString();

const RunRow = ({ run, nowMs }: { readonly run: ListedRunView; readonly nowMs: number }) => (
  <tr>
    <td class="main-cell" data-name="Run">
      <a href={`/runs/${run.run}`}>{showInvisible(run.goal)}</a>
      <code class="small">{run.run}</code>
    </td>
    <td data-name="State">
      <StateBadge state={run.terminal ?? run.state} />
    </td>
    <td data-name="Agent">{run.agent}</td>
    <td data-name="Started">
      <Ago at={run.createdAt} nowMs={nowMs} />
    </td>
    <td data-name="Waiting for a person">
      {run.waitingSince === undefined ? (
        <span class="none">no</span>
      ) : (
        `for ${formatRough(nowMs - Date.parse(run.waitingSince))}`
      )}
    </td>
    <td data-name="Cost" class="number">
      {formatCost(run.totals.costMicros)}
      <span class="small"> {formatNumberOf(run.totals.steps, 'step')}</span>
    </td>
  </tr>
);
