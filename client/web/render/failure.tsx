/** What went wrong, as a page: the same problems that the API answers with. */
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { noteProblem } from '../../http/problems/note-problem';
import { toProblemError } from '../../http/problems/problem';
import { PROBLEMS } from '../../http/problems/catalogue';
import type { PageContext } from '../page-env';
import { PageRefusal } from '../page-refusal';
import { renderDocument, renderPage } from './layout';

interface Failure {
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  readonly advice?: string;
  readonly instance?: string;
}

export const renderFailure = (c: PageContext, error: unknown) => {
  const failure = error instanceof PageRefusal ? ofRefusal(error) : ofProblem(c, error);
  const text = <FailureText {...failure} />;
  const isSignedIn = isPresent(c.get('caller')) && isPresent(c.get('formToken'));
  const page = isSignedIn
    ? renderPage(c, { title: failure.title, children: text })
    : renderDocument(
        { title: failure.title },
        <main id="main" class="narrow">
          {text}
        </main>,
      );
  return c.html(page, parseStatus(failure.status));
};

// Set behind authentication only.
const isPresent = (value: unknown): boolean => value !== undefined;

const ofRefusal = ({ status, title, message }: PageRefusal): Failure => ({ status, title, detail: message });

const ofProblem = (c: PageContext, error: unknown): Failure => {
  const refusal = toProblemError(error);
  const { status, title, detail, instance } = noteProblem(c.get('service'), c.get('requestId'), refusal);
  return { status, title, detail, advice: PROBLEMS[refusal.code].advice, ...(status >= 500 ? { instance } : {}) };
};

const parseStatus = (status: number): ContentfulStatusCode => status as ContentfulStatusCode;

const FailureText = ({ title, detail, advice, instance }: Failure) => (
  <section class="card failure">
    <h1>{title}</h1>
    <p>{detail}</p>
    {advice === undefined ? null : <p>{advice}</p>}
    {instance === undefined ? null : (
      <p>
        The log has the cause under <code>{instance}</code>.
      </p>
    )}
    <p>
      <a href="/inbox">To the inbox</a>
    </p>
  </section>
);
