/**
 * The page: what people see of runs and waits, rendered by the service. It asks the same client as the API's routes, for the
 * same callers with the same roles; a browser needs no script for anything but to see changes as they happen.
 */
import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { App, Service } from '../http/service';
import { findAsset, loadAssets } from './assets';
import type { PageEnv } from './page-env';
import { pageHeaders } from './page-headers';
import { PageRefusal } from './page-refusal';
import { renderFailure } from './render/failure';
import { addRunPageRoutes } from './run/run-routes';
import { addRunListRoute } from './runs/list-routes';
import { addSignInRoutes } from './signin/signin-routes';
import { addSummaryPageRoute } from './summary/summary-routes';
import { addWaitPageRoutes } from './waits/wait-routes';

const PATHS = ['/', '/signin', '/signout', '/inbox', '/waits/*', '/runs', '/runs/*', '/summary', '/assets/*'];

export const addPage = (app: App, service: Service): void => {
  loadAssets();
  const pages = new Hono<PageEnv>();
  pages.onError((error, c) => renderFailure(c, error));
  for (const path of PATHS) {
    pages.use(path, pageHeaders);
    pages.use(path, bodyLimit({ maxSize: service.limits.maxBodyBytes, onError: refuseSize }));
  }
  pages.get('/', (c) => c.redirect('/inbox', 303));
  pages.get('/assets/:name', (c) => {
    const asset = findAsset(c.req.param('name'));
    if (asset === undefined) return c.notFound();
    return c.body(asset.text, 200, {
      'Content-Type': asset.type,
      'Cache-Control': 'public, max-age=31536000, immutable',
    });
  });
  addSignInRoutes(pages);
  addWaitPageRoutes(pages, service);
  addRunListRoute(pages);
  addRunPageRoutes(pages);
  addSummaryPageRoute(pages);
  app.route('/', pages);
};

const refuseSize = (): never => {
  throw new PageRefusal(
    400,
    'This is too much',
    'What was written is larger than what can be taken. Say it in fewer words.',
  );
};
