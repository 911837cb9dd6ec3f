/**
 * Every page as people see it: on a phone and on a desk, light and dark. axe finds nothing serious, nothing is wider than the
 * screen, and the browser complains of nothing. With HOLDFAST_SCREENSHOTS=folder each is kept as a picture.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { setPageStage, type PageStage } from '../support/browser/page-stage';
import { endAs, newOperation, newRef, newRun } from '../support/store-contract/fixtures';

const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const SCREENSHOTS = process.env['HOLDFAST_SCREENSHOTS'];

let place: PageStage;
const paths = new Map<string, string>();

beforeAll(async () => {
  place = await setPageStage();
  const { stage } = place;
  const asking = await stage.start({ agent: 'tickets-approval' });
  const wait = await place.asked(asking);
  const question = await stage.start({ goal: 'Reassign my ticket by the on-call rules and explain it.', data: {} });
  const unanswered = await stage.start({ agent: 'tickets-approval-tell' });
  const expired = await place.asked(unanswered);
  await stage.end(unanswered);
  // Last: once the ticket is where it belongs, nothing is asked about it.
  const done = await stage.start();
  await stage.end(done);
  const { operations } = await stage.runs.details(stage.tenant, done.ref.run);
  const artifact = operations.find(({ output }) => output !== undefined)?.output ?? '';
  paths
    .set('sign-in', '/signin')
    .set('inbox', '/inbox')
    .set('approval', `/waits/${wait}`)
    .set('question', `/waits/${await place.asked(question)}`)
    .set('expired', `/waits/${expired}`)
    .set('runs', '/runs')
    .set('run that waits', `/runs/${asking.ref.run}`)
    .set('run that has ended', `/runs/${done.ref.run}`)
    .set('run of many steps', `/runs/${await manySteps()}?before=36`)
    .set('journal', `/runs/${done.ref.run}/journal`)
    .set('evidence', `/runs/${done.ref.run}/artifacts/${artifact}`)
    .set('summary', '/summary')
    .set('not found', '/runs/run_000000000000');
});

/** More than a page of steps has on either side of it. */
const manySteps = async (): Promise<string> => {
  const { store, tenant } = place.stage;
  const ref = newRef(tenant);
  const limits = { maxSteps: 60, maxTokens: 1, maxCostMicros: 1, maxToolCalls: 1, deadlineMs: 3_600_000 };
  await store.runs.start(newRun(ref));
  await store.runs.open(ref, {
    definition: await store.artifacts.putJson(ref.tenant, { limits }),
    deadlineMs: limits.deadlineMs,
  });
  for (let step = 1; step <= 60; step += 1) await store.operations.create([newOperation(ref, step)]);
  await store.runs.commit({ ref, events: [] }, endAs(ref, 'FAILED'));
  return ref.run;
};

afterAll(async () => {
  for (const row of (await place.stage.runs.list(place.stage.tenant, { limit: 50 })).rows) {
    if (row.terminal !== undefined) continue;
    await place.stage.runs.cancel(place.stage.tenant, row.ref.run);
    await place.stage.end(row);
  }
  await place.close();
});

const NAMES = [
  'sign-in',
  'inbox',
  'approval',
  'question',
  'expired',
  'runs',
  'run that waits',
  'run that has ended',
  'run of many steps',
  'journal',
  'evidence',
  'summary',
  'not found',
];

describeEach('light', 1440);
describeEach('dark', 1440);
describeEach('light', 390);
describeEach('dark', 390);

function describeEach(colorScheme: 'light' | 'dark', width: number): void {
  test(`every page, ${colorScheme}, ${String(width)} px wide`, async () => {
    const page = await place.signIn({}, { colorScheme, viewport: { width, height: width === 390 ? 844 : 900 } });
    const complaints: string[] = [];
    page.on('console', (message) => {
      // The page that is not there says so with its status.
      if (message.type() === 'error' && !message.text().includes('404')) complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    const found: string[] = [];
    for (const name of NAMES) {
      await page.goto(paths.get(name) ?? '');
      if (SCREENSHOTS !== undefined) await keep(page, `${name}-${colorScheme}-${String(width)}`);
      found.push(...(await lookAt(page)).map((fault) => `${name}: ${fault}`));
    }

    expect(found).toEqual([]);
    expect(complaints).toEqual([]);
    await page.context().close();
  });
}

const keep = async (page: Page, name: string): Promise<void> => {
  const path = join(SCREENSHOTS ?? '', `${name.replaceAll(' ', '-')}.png`);
  await page.screenshot({ path, fullPage: true });
};

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string | null;
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
  }[];
}

/** What is wrong with the page that is open: what axe takes seriously, and what does not fit. */
const lookAt = async (page: Page): Promise<readonly string[]> => {
  await page.evaluate(AXE);
  const { violations } = parseAxe(await page.evaluate('axe.run()'));
  const serious = violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary ?? ''}`));
  const overflow = Number(await page.evaluate('document.documentElement.scrollWidth - window.innerWidth'));
  return overflow > 0 ? [...serious, `wider than the screen by ${String(overflow)} px`] : serious;
};

const parseAxe = (value: unknown): AxeResult => value as AxeResult;
