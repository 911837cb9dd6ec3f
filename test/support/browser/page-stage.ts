/** A stage of scenarios with the service, and people who sit before it with a real browser. */
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { signToken } from '../../../client/http/auth/verify-token';
import type { RunRow } from '../../../store/rows';
import { setStage, type Stage, type StageOptions } from '../scenario/stage';
import { findChromium } from './find-chromium';

export interface PageStage {
  readonly stage: Stage;
  readonly url: string;
  /** Signed in by a link as development prints it; each call is another browser profile. */
  readonly signIn: (who?: Partial<Person>, options?: BrowserContextOptions) => Promise<Page>;
  readonly tokenOf: (who?: Partial<Person>) => Promise<string>;
  /** Waits until the run asks, and returns the id of the wait. */
  readonly asked: (run: RunRow) => Promise<string>;
  /** Ends what people have open. */
  readonly leave: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface Person {
  readonly tenant: string;
  readonly subject: string;
  readonly roles: readonly string[];
}

/** Of one wait for something on a page. */
const PAGE_TIMEOUT_MS = 20_000;
const TOKEN_MS = 3_600_000;

export const setPageStage = async (options: StageOptions = {}): Promise<PageStage> => {
  const executablePath = findChromium();
  const stage = await setStage({ ...options, isServiceStarted: true });
  const browser = await launch(executablePath).catch(async (error: unknown) => {
    await stage.close();
    throw error;
  });
  const url = stage.services[0]?.url ?? '';
  const tokenOf = (who: Partial<Person> = {}): Promise<string> =>
    signToken(
      { secret: stage.tokenSecret },
      { tenant: stage.tenant, subject: 'bob', roles: ['viewer', 'approver', 'operator'], ...who },
      new Date(Date.now() + TOKEN_MS),
    );
  return {
    stage,
    url,
    tokenOf,
    signIn: async (who, contextOptions = {}) => {
      const context = await browser.newContext({ baseURL: url, ...contextOptions });
      context.setDefaultTimeout(PAGE_TIMEOUT_MS);
      const page = await context.newPage();
      await page.goto(`/signin#token=${await tokenOf(who)}`);
      await page.waitForURL('**/inbox');
      return page;
    },
    asked: async (run) => {
      const open = await stage.until(
        async () => {
          const { state, reason, terminal } = await stage.runs.get(stage.tenant, run.ref.run);
          if (terminal !== undefined)
            throw new Error(`${run.ref.run} ended as ${terminal} (${String(reason)}) and asked nobody`);
          const waits = await stage.store.waits.list(run.ref.tenant, { run: run.ref.run, limit: 10 });
          return waits.length > 0 ? waits : state;
        },
        (found) => typeof found !== 'string' && found.some(({ state }) => state === 'OPEN'),
        40_000,
      );
      return (typeof open === 'string' ? undefined : open.find(({ state }) => state === 'OPEN')?.id) ?? '';
    },
    leave: async () => {
      await Promise.all(browser.contexts().map((context) => context.close()));
    },
    close: async () => {
      await browser.close();
      await stage.close();
    },
  };
};

/** A container's root has no user namespaces to build a sandbox of; the pages are our own. */
const launch = (executablePath: string): Promise<Browser> =>
  chromium.launch({ executablePath, headless: true, args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] });
