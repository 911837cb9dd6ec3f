/** One run: where it is, how it came there, what it did and rests on, what it cost, and what can be done with it. */
import { showInvisible } from '../../../responses/show-invisible';
import type { PageContext } from '../page-env';
import { renderPage } from '../render/layout';
import { Ago, Back, Moment, Notice, RunLink, StateBadge, Term } from '../render/parts';
import { STATE_WORDS } from '../words';
import { Actions } from './actions';
import type { FormOutcome } from './form-outcome';
import { Ledger } from './ledger';
import type { ShownRun } from './load-run';
import { MachinePicture } from './machine-picture';
import { ModelLine } from './model-line';
import { Result } from './result';
import { Steps } from './steps';
import { Timeline } from './timeline';
import { OpenWaits } from './open-waits';

export interface RunPageProps {
  readonly shown: ShownRun;
  /** The role is there. */
  readonly mayOperate: boolean;
  readonly outcome?: FormOutcome;
}

export const renderRun = (c: PageContext, props: RunPageProps) => {
  const { shown, outcome } = props;
  const { run } = shown.details;
  const hasEnded = run.terminal !== undefined;
  return renderPage(c, {
    title: showInvisible(run.goal).slice(0, 60),
    here: 'runs',
    children: (
      <div id="run" data-follow={hasEnded ? undefined : `/runs/${run.run}/live`} data-after={String(run.position)}>
        <Back to="/runs">Runs</Back>
        <div class="heading">
          <h1>{showInvisible(run.goal)}</h1>
          <State {...shown} />
        </div>
        {outcome === undefined ? null : (
          <Notice tone={outcome.tone} title={outcome.title} isUrgent={outcome.tone === 'bad'}>
            <p>{outcome.text}</p>
          </Notice>
        )}
        <Region id="waits-of-run">
          <OpenWaits shown={shown} />
        </Region>
        <Region id="result">
          <Result shown={shown} />
        </Region>
        {hasEnded ? null : <LiveText />}
        <div class="columns">
          <div>
            <section class="card" aria-labelledby="timeline-title">
              <h2 id="timeline-title">Where the time went</h2>
              <Region id="timeline">
                <Timeline shown={shown} />
              </Region>
            </section>
            <section class="card" aria-labelledby="ledger-title">
              <h2 id="ledger-title">Ledger against limits</h2>
              <Region id="ledger">
                <Ledger shown={shown} />
              </Region>
            </section>
          </div>
          <div>
            <section class="card" aria-labelledby="picture-title">
              <h2 id="picture-title">Where it is</h2>
              <Region id="picture">
                <MachinePicture {...shown} />
              </Region>
            </section>
            <About {...shown} />
          </div>
        </div>
        <section aria-labelledby="steps-title">
          <h2 id="steps-title">Steps</h2>
          <Region id="steps">
            <Steps shown={shown} />
          </Region>
        </section>
        <div id="actions" data-live data-version={actionsVersion(shown)}>
          {props.mayOperate ? <Actions c={c} shown={shown} /> : null}
        </div>
      </div>
    ),
  });
};

const Region = ({ id, children }: { readonly id: string; readonly children: unknown }) => (
  <div id={id} data-live>
    {children}
  </div>
);

/** Forms are left alone while they say the same: somebody may be writing in them. */
const actionsVersion = ({ details: { run, waits, operations } }: ShownRun): string =>
  [
    run.terminal ?? 'open',
    run.cancelRequestedAt ?? '',
    ...waits.filter(({ state }) => state === 'OPEN').map(({ wait }) => wait),
    ...(run.terminal === undefined ? [] : operations.map(({ state }) => state)),
  ].join(' ');

const State = ({ details: { run, model } }: ShownRun) => {
  const state = run.terminal ?? run.state;
  return (
    <div class="state">
      <p id="state" data-live data-state={state} role="status">
        <StateBadge state={state} /> {STATE_WORDS[state].says}
        {run.reason === undefined ? null : (
          <>
            {' '}
            (<code>{run.reason}</code>)
          </>
        )}
        {run.cancelRequestedAt !== undefined && run.terminal === undefined ? '. A cancel was asked for.' : ''}
      </p>
      <p id="connection" class="small connection" role="status"></p>
      <p class="small" id="model" data-live>
        <ModelLine model={model} />
      </p>
    </div>
  );
};

const LiveText = () => (
  <section class="card live" id="live" aria-labelledby="live-title" hidden>
    <h2 id="live-title">
      The model writes <span class="small" id="live-attempt"></span>
    </h2>
    <p class="small">Nothing of it counts before it is whole and has been checked.</p>
    <pre id="live-text" class="text" tabindex={0} role="region" aria-label="Text of the running attempt"></pre>
  </section>
);

const About = ({ details: { run }, nowMs }: ShownRun) => (
  <section class="card" aria-labelledby="about-title">
    <h2 id="about-title">About this run</h2>
    <dl class="terms">
      <Term name="Run">
        <code>{run.run}</code>
      </Term>
      <Term name="Agent">{run.agent}</Term>
      <Term name="Asked for by">
        {showInvisible(run.subject)}
        {run.roles.length === 0 ? '' : ` (${showInvisible(run.roles.join(', '))})`}
      </Term>
      <Term name="Started">
        <Moment at={run.createdAt} /> (<Ago at={run.createdAt} nowMs={nowMs} />)
      </Term>
      {run.deadlineAt === undefined ? null : (
        <Term name="Deadline">
          <Moment at={run.deadlineAt} />
        </Term>
      )}
      {run.endedAt === undefined ? null : (
        <Term name="Ended">
          <Moment at={run.endedAt} />
        </Term>
      )}
      <Term name="Plan version">{run.planVersion}</Term>
      {run.reopens === undefined ? null : (
        <Term name="Goes on from">
          <RunLink run={run.reopens} />
        </Term>
      )}
      {run.follows === undefined ? null : (
        <Term name="Follows">
          <RunLink run={run.follows} />
        </Term>
      )}
      <Term name="Data">
        <code>{showInvisible(JSON.stringify(run.data))}</code>
      </Term>
      {run.definition === undefined ? null : (
        <Term name="Definition">
          <a href={`/runs/${run.run}/artifacts/${run.definition}`}>as it was pinned</a>
        </Term>
      )}
    </dl>
  </section>
);
