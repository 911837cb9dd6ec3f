/** People watch runs on the page as they go on: jobs, live text, a service that comes back, and what they do to a run. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { setPageStage, type PageStage } from '../support/browser/page-stage';
import { effectsOf, type Seen } from '../support/scenario/effects';

let place: PageStage;
beforeAll(async () => {
  place = await setPageStage();
});
afterEach(async () => {
  await place.leave();
  await place.stage.checkAndReset();
});
afterAll(() => place.close());

const REASSIGNED: Seen = { kind: 'reassign', ticket: 'T100', args: { team: 'payments-oncall' } };
const ROUTE = { match: { route: 'reassign' } } as const;

const stateOf = (page: Page) => page.locator('#state');
const untilShown = (page: Page, state: string): Promise<void> =>
  stateOf(page).locator('.badge', { hasText: state }).waitFor({ timeout: 40_000 });

/** A job that ends when the test says so. */
const acceptJob = async (): Promise<void> => {
  await place.stage.desk.addFault({ ...ROUTE, fault: { kind: 'accept-job', manual: true } });
};

const finishJob = async (): Promise<void> => {
  const jobs = await place.stage.until(
    () => place.stage.desk.jobs(),
    (all) => all.length > 0,
  );
  await place.stage.desk.finishJob(jobs[0]?.id ?? '');
};

describe('A4: a job is watched to its end', () => {
  test('the page goes along by itself, to the result with its evidence; it says that the model was offline', async () => {
    await acceptJob();
    const page = await place.signIn();
    const run = await place.stage.start();
    await page.goto(`/runs/${run.ref.run}`);

    await untilShown(page, 'WAITING_TOOL');
    expect(await page.getByRole('heading', { name: /^Result/ }).count()).toBe(0);
    await finishJob();
    await untilShown(page, 'SUCCEEDED');

    const result = page.getByRole('region', { name: 'Result' });
    await result.waitFor();
    expect(await result.innerText()).toContain('offline model');
    await result.getByRole('link', { name: 'E3.1' }).first().click();
    await page.getByRole('heading', { name: 'Evidence' }).waitFor();
    expect(await page.getByRole('region', { name: 'Content' }).innerText()).toContain('"team": "payments-oncall"');
    expect(await effectsOf(place.stage)).toEqual([REASSIGNED]);
  });
});

describe('live text', () => {
  test('is shown while the model writes, and gone once it has been judged', async () => {
    // Slow enough to be watched.
    place.stage.model.addFault({ fault: { kind: 'slow', delayMsPerEvent: 150 }, times: 2 });
    const page = await place.signIn();
    const run = await place.stage.start();
    await page.goto(`/runs/${run.ref.run}`);

    await page.locator('#live-text').waitFor();
    await page.waitForFunction('document.getElementById("live-text").textContent.length > 10');
    expect(await page.locator('#live-attempt').innerText()).toMatch(/^in step \d+, attempt \d+$/);
    await untilShown(page, 'SUCCEEDED');

    expect(await page.locator('#live').isVisible()).toBe(false);
  });
});

describe('the service goes away while the page is open', () => {
  test('the page says that it reconnects, and goes on where it was once the service is back', async () => {
    await acceptJob();
    const page = await place.signIn();
    const run = await place.stage.start();
    await page.goto(`/runs/${run.ref.run}`);
    await untilShown(page, 'WAITING_TOOL');
    const connection = page.locator('#connection');
    await connection.getByText('Live:').waitFor();

    await place.stage.services.at(-1)?.kill();
    await connection.getByText('Reconnecting…').waitFor();
    await finishJob();
    await place.stage.end(run);
    expect(await stateOf(page).innerText()).toContain('WAITING_TOOL');
    await place.stage.startService();

    await untilShown(page, 'SUCCEEDED');
    expect(await page.getByRole('region', { name: 'Result' }).count()).toBe(1);
  });
});

describe('what a person does to a run', () => {
  test('cancels it', async () => {
    const run = await place.stage.start({ agent: 'tickets-approval' });
    await place.asked(run);
    const page = await place.signIn();
    await page.goto(`/runs/${run.ref.run}`);

    await page.getByText('Cancel it', { exact: true }).click();
    await page.getByRole('button', { name: 'Cancel this run' }).click();
    await page.getByText('The cancel was taken.').waitFor();

    expect((await place.stage.end(run)).terminal).toBe('CANCELLED');
    await untilShown(page, 'CANCELLED');
    expect(await effectsOf(place.stage)).toEqual([]);
  });

  test('changes its plan, which voids what it asked, and takes back what it asks then', async () => {
    const run = await place.stage.start({ agent: 'tickets-approval' });
    const wait = await place.asked(run);
    const page = await place.signIn();
    await page.goto(`/runs/${run.ref.run}`);

    await page.getByText('Change what it is to do').click();
    await page.getByRole('textbox', { name: 'What is to be different' }).fill('Say in the reason that it is urgent.');
    await page.getByRole('button', { name: 'Change the plan' }).click();
    await page.getByText('The message was taken.').waitFor();
    await place.stage.until(
      () => place.stage.store.waits.read(run.ref, parseWait(wait)),
      (reading) => reading?.row.state === 'VOID',
    );

    await page.goto(`/waits/${wait}`);
    expect(await page.getByText('This is not asked any more.').count()).toBe(1);
    await place.stage.runs.cancel(place.stage.tenant, run.ref.run);
    await place.stage.end(run);
  });

  test('says after its end what became of an operation that nobody could prove', async () => {
    await place.stage.desk.addFault({ ...ROUTE, fault: { kind: 'apply-then-drop' } });
    const run = await place.stage.start({ agent: 'tickets-brief-neither', limits: { deadlineMs: 7_000 } });
    expect((await place.stage.end(run)).terminal).toBe('EXPIRED');
    const page = await place.signIn();
    await page.goto(`/runs/${run.ref.run}`);

    await page.getByRole('heading', { name: 'What became of reassign_ticket?' }).waitFor();
    await page.getByRole('radio', { name: /^It was done/ }).check();
    await page.getByRole('textbox', { name: 'How you know' }).fill('The desk shows it.');
    await page.getByRole('button', { name: 'Record it' }).click();

    await page.getByRole('heading', { name: 'Result, version 2' }).waitFor();
    expect(await page.getByRole('region', { name: /^Result/ }).innerText()).toContain('by bob: The desk shows it.');
    expect(await page.getByText('what became of every operation is known').count()).toBe(1);
    expect(await effectsOf(place.stage)).toEqual([REASSIGNED]);
  });

  test('is found by words of its goal, by its id, and by its state', async () => {
    const run = await place.stage.start({ goal: 'Reassign T100, and mind the 100% case_sensitive words.' });
    await place.stage.end(run);
    const page = await place.signIn();
    await page.goto('/runs');

    const find = async (words: string, state = ''): Promise<number> => {
      await page.getByLabel('Id or words of the goal').fill(words);
      await page.getByLabel('State').selectOption(state);
      await page.getByRole('button', { name: 'Search' }).click();
      await page.waitForURL((url) => url.searchParams.get('search') === words);
      return page.getByText(run.ref.run).count();
    };

    expect(await find('MIND THE 100%')).toBe(1);
    expect(await find('ind the 100')).toBe(0);
    expect(await find(run.ref.run.slice(0, 14), 'SUCCEEDED')).toBe(1);
    expect(await find(run.ref.run, 'FAILED')).toBe(0);
  });
});

const parseWait = (wait: string) => wait as Parameters<PageStage['stage']['store']['waits']['read']>[1];
