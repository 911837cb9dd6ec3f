/** What every page has around it. */
import { html } from 'hono/html';
import type { Child } from 'hono/jsx';
import { hrefOf } from '../assets';
import type { PageContext } from '../page-env';

export type Place = 'inbox' | 'runs' | 'summary';

export interface PageProps {
  readonly title: string;
  readonly here?: Place;
  readonly children?: Child;
}

const PLACES: readonly { readonly place: Place; readonly href: string; readonly name: string }[] = [
  { place: 'inbox', href: '/inbox', name: 'Inbox' },
  { place: 'runs', href: '/runs', name: 'Runs' },
  { place: 'summary', href: '/summary', name: 'Summary' },
];

/** A page for somebody who is signed in. */
export const renderPage = (c: PageContext, { title, here, children }: PageProps) =>
  renderDocument(
    { title, script: 'page.js' },
    <>
      <Header c={c} here={here} />
      <main id="main" tabindex={-1}>
        {children}
      </main>
    </>,
  );

export const renderDocument = (
  { title, script }: { readonly title: string; readonly script?: 'page.js' | 'signin.js' },
  body: Child,
) =>
  html`<!doctype html>${(
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <meta name="color-scheme" content="light dark" />
          <title>{title} · Holdfast</title>
          <link rel="stylesheet" href={hrefOf('page.css')} />
          <link rel="icon" href={hrefOf('icon.svg')} type="image/svg+xml" />
          {script === undefined ? null : <script type="module" src={hrefOf(script)}></script>}
        </head>
        <body>
          <a class="skip" href="#main">
            Skip to the content
          </a>
          {body}
        </body>
      </html>
    )}`;

const Header = ({ c, here }: { readonly c: PageContext; readonly here: Place | undefined }) => {
  const { subject, tenant } = c.get('caller');
  return (
    <header class="top">
      <a class="brand" href="/inbox">
        Holdfast
      </a>
      <nav aria-label="Pages">
        {PLACES.map(({ place, href, name }) => (
          <a href={href} aria-current={place === here ? 'page' : undefined}>
            {name}
          </a>
        ))}
      </nav>
      <form class="who" method="post" action="/signout">
        <FormToken c={c} />
        <span>
          <span class="subject">{subject}</span> <span class="tenant">{tenant}</span>
        </span>
        <button class="quiet">Sign out</button>
      </form>
    </header>
  );
};

export const FormToken = ({ c }: { readonly c: PageContext }) => (
  <input type="hidden" name="formToken" value={c.get('formToken')} />
);
