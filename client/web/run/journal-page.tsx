/** The journal of a run, page by page: every event of the machine, and what came from outside. */
import type { EventPage, EventView } from '../../schemas/event';
import { parseMachineLine } from '../../views/machine-line';
import type { PageContext } from '../page-env';
import { renderPage } from '../render/layout';
import { Back, Moment, RunLink } from '../render/parts';
import { showJournal } from './show-journal';

export interface JournalProps extends EventPage {
  readonly run: string;
}

export const renderJournal = (c: PageContext, { run, events, after, isLast }: JournalProps) =>
  renderPage(c, {
    title: 'Journal',
    here: 'runs',
    children: (
      <>
        <Back to={`/runs/${run}`}>The run</Back>
        <div class="heading">
          <h1>Journal</h1>
          <p>
            Everything that happened in <RunLink run={run} />, in order. It is only ever added to.
          </p>
        </div>
        {events.length === 0 ? <p class="empty">Nothing more has happened.</p> : <Lines events={events} />}
        <p class="pages">{isLast ? null : <a href={`?after=${String(after)}`}>Next page</a>}</p>
      </>
    ),
  });

const Lines = ({ events }: { readonly events: readonly EventView[] }) => (
  <table class="list">
    <caption class="unseen">Events in order</caption>
    <thead>
      <tr>
        <th scope="col" class="number">
          Position
        </th>
        <th scope="col">Recorded</th>
        <th scope="col">Event</th>
        <th scope="col">About</th>
      </tr>
    </thead>
    <tbody>
      {events.map(showJournal).map((event) => (
        <Line event={event} />
      ))}
    </tbody>
  </table>
);

const Line = ({ event }: { readonly event: EventView }) => {
  const machine = parseMachineLine(event);
  return (
    <tr>
      <td data-name="Position" class="number">
        {event.position}
      </td>
      <td data-name="Recorded">
        <Moment at={event.recordedAt} />
      </td>
      <td data-name="Event">
        {machine === undefined ? (
          <>from outside: {kindOf(event)}</>
        ) : (
          <>
            <strong>{machine.event}</strong>{' '}
            {machine.from === machine.to ? machine.from : `${machine.from} → ${machine.to}`}
            <span class="small"> {machine.rule}</span>
          </>
        )}
      </td>
      <td data-name="About" class="small wrap">
        {machine === undefined ? JSON.stringify(event.body) : describe(machine.cause)}
      </td>
    </tr>
  );
};

const kindOf = ({ body: { kind } }: EventView): string => (typeof kind === 'string' ? kind : 'event');

const describe = (cause: Readonly<Record<string, string | number>>): string =>
  Object.entries(cause)
    .map(([name, value]) => `${name} ${String(value)}`)
    .join(', ');
