/** An artifact of a run, a page of it at a time: what a model saw or wrote, what a tool was sent and answered. */
import { showInvisible } from '../../../responses/show-invisible';
import { formatCount } from '../../views/format';
import type { PageContext } from '../page-env';
import { renderPage } from '../render/layout';
import { Back, RunLink, Term } from '../render/parts';
import { hrefOfArtifact } from './evidence-link';
import type { TextPart } from './text-part';

export interface EvidencePageProps {
  readonly run: string;
  readonly hash: string;
  readonly part: TextPart;
}

export const renderEvidence = (c: PageContext, { run, hash, part }: EvidencePageProps) =>
  renderPage(c, {
    title: 'Evidence',
    here: 'runs',
    children: (
      <>
        <Back to={`/runs/${run}`}>The run</Back>
        <div class="heading">
          <h1>Evidence</h1>
          <p>It never changes: its name is the hash of what is in it.</p>
        </div>
        <section class="card" aria-label="Artifact">
          <dl class="terms">
            <Term name="Run">
              <RunLink run={run} />
            </Term>
            <Term name="SHA-256">
              <code>{hash}</code>
            </Term>
            <Term name="Size">{formatCount(part.sizeBytes)} bytes</Term>
            <Term name="Media type">{part.mediaType}</Term>
          </dl>
          <Content part={part} />
          <Pages run={run} hash={hash} part={part} />
        </section>
      </>
    ),
  });

const Content = ({ part }: { readonly part: TextPart }) => {
  if (part.text === undefined) return <p class="empty">This is no text. The API has its bytes.</p>;
  return (
    <pre class="code tall" tabindex={0} role="region" aria-label="Content">
      {showInvisible(part.text)}
    </pre>
  );
};

const Pages = ({ run, hash, part }: EvidencePageProps) => {
  if (part.previous === undefined && part.next === undefined) return <p class="small">This is all of it.</p>;
  const href = (offset: number): string => `${hrefOfArtifact(run, hash)}?offset=${String(offset)}`;
  return (
    <nav class="pages" aria-label="Parts">
      {part.previous === undefined ? null : <a href={href(part.previous)}>Previous part</a>}
      <span class="small">
        Bytes {formatCount(part.from)} to {formatCount(part.to)} of {formatCount(part.sizeBytes)}: not all of it.
      </span>
      {part.next === undefined ? null : <a href={href(part.next)}>Next part</a>}
    </nav>
  );
};
