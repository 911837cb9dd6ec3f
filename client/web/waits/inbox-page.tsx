/** What people are asked, the oldest first. */
import { WAIT_KINDS } from '../../../workflows/machine/states';
import type { ListedWaitView, WaitPage } from '../../schemas/wait';
import type { PageContext } from '../page-env';
import { renderPage } from '../render/layout';
import { Ago, KindBadge, Risk, TimeLeft } from '../render/parts';
import { KIND_WORDS, type WaitKind } from '../words';

export interface InboxProps extends WaitPage {
  readonly kind?: WaitKind;
  readonly nowMs: number;
}

export const renderInbox = (c: PageContext, props: InboxProps) =>
  renderPage(c, {
    title: 'Inbox',
    here: 'inbox',
    children: (
      <>
        <div class="heading">
          <h1>Inbox</h1>
          <p>What agents ask people. Whoever asked first is first. Until somebody answers, a run waits.</p>
        </div>
        <nav class="filter" aria-label="Filter by kind">
          <a href="/inbox" aria-current={props.kind === undefined ? 'page' : undefined}>
            All
          </a>
          {WAIT_KINDS.map((kind) => (
            <a href={`/inbox?kind=${kind}`} aria-current={props.kind === kind ? 'page' : undefined}>
              {KIND_WORDS[kind].name}
            </a>
          ))}
        </nav>
        <div id="waits" data-live data-version={versionOf(props)} data-every-ms="3000">
          <WaitList {...props} />
        </div>
      </>
    ),
  });

/** Times are told anew by the script: only other waits are other content. */
const versionOf = ({ waits, cursor }: InboxProps): string => [...waits.map(({ wait }) => wait), cursor ?? ''].join(' ');

const WaitList = ({ waits, cursor, kind, nowMs }: InboxProps) => (
  <>
    {waits.length === 0 ? (
      <p class="empty">Nothing is asked. New questions appear here by themselves.</p>
    ) : (
      <ol class="list">
        {waits.map((wait) => (
          <WaitEntry wait={wait} nowMs={nowMs} />
        ))}
      </ol>
    )}
    {cursor === undefined ? null : (
      <p class="pages">
        <a href={`/inbox?${kind === undefined ? '' : `kind=${kind}&`}cursor=${cursor}`}>Next page</a>
      </p>
    )}
  </>
);

const WaitEntry = ({ wait, nowMs }: { readonly wait: ListedWaitView; readonly nowMs: number }) => (
  <li class="card entry">
    <div class="entry-head">
      <KindBadge kind={wait.kind} />
      <TimeLeft remainingMs={Math.max(0, Date.parse(wait.expiresAt) - nowMs)} />
    </div>
    <h2>
      <a href={`/waits/${wait.wait}`}>{KIND_WORDS[wait.kind].asks}</a>
    </h2>
    {wait.about === undefined ? null : <About {...wait.about} />}
    <p class="goal">{wait.goal}</p>
    <p class="small">
      {wait.agent}, for {wait.requester} · asked <Ago at={wait.openedAt} nowMs={nowMs} />
    </p>
  </li>
);

const About = ({ tool, target, risk }: NonNullable<ListedWaitView['about']>) => (
  <p class="about">
    <code>{tool}</code>
    {target === undefined ? null : (
      <>
        {' on '}
        <code>{target}</code>
      </>
    )}{' '}
    {risk === undefined ? null : <Risk risk={risk} />}
  </p>
);
