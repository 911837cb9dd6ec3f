/** People answer on the page what runs ask, in a real browser; effects are counted at the desk. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { setPageStage, type PageStage } from '../support/browser/page-stage';
import { effectsOf, sendsOf, type Seen } from '../support/scenario/effects';

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

describe('A2: a person decides about the write', () => {
  test('the inbox shows it by itself, the wait shows the exact plan, and approved it is done once', async () => {
    const page = await place.signIn();
    await page.getByText('Nothing is asked.').waitFor();
    const run = await place.stage.start({ agent: 'tickets-approval' });

    await page.getByRole('link', { name: 'May the agent do this?' }).click();
    const plan = page.getByRole('article', { name: /Operation op_/ });
    const shown = await plan.innerText();
    expect(shown).toContain('reassign_ticket');
    expect(shown).toContain('medium risk');
    expect(shown).toContain('ticket:T100');
    expect(shown).toMatch(/Expected version\s+3;/);
    expect(shown).toContain('"team": "payments-oncall"');
    expect(await page.getByText('alice', { exact: true }).count()).toBe(1);
    expect(await sendsOf(place.stage, 'reassign')).toBe(0);

    await page.getByRole('button', { name: 'Approve', exact: true }).dblclick();
    await page.getByRole('heading', { name: 'Approved' }).waitFor();
    expect(await page.getByText(/^By bob,/).count()).toBe(1);

    expect((await place.stage.end(run)).terminal).toBe('SUCCEEDED');
    expect(await effectsOf(place.stage)).toEqual([REASSIGNED]);
  });

  test('denied without a reason it says so beside the field; with one nothing is done', async () => {
    const run = await place.stage.start({ agent: 'tickets-approval' });
    const page = await place.signIn();
    await page.goto(`/waits/${await place.asked(run)}`);

    await page.getByRole('button', { name: 'Deny' }).click();
    const reason = page.getByRole('textbox', { name: 'Why not?' });
    expect(await reason.getAttribute('aria-invalid')).toBe('true');
    expect(await page.getByText('Say why: the agent is told it.').count()).toBeGreaterThan(0);

    await reason.fill('The team is on leave.');
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.getByRole('heading', { name: 'Denied' }).waitFor();
    expect(await page.getByText('The team is on leave.').count()).toBe(1);

    expect(await place.stage.end(run)).toMatchObject({ terminal: 'FAILED', reason: 'blocked.denied' });
    expect(await effectsOf(place.stage)).toEqual([]);
  });

  test('edited arguments are refused beside their field, and done as they were edited once they are right', async () => {
    const run = await place.stage.start({ agent: 'tickets-approval' });
    const page = await place.signIn();
    await page.goto(`/waits/${await place.asked(run)}`);

    await page.getByText('Approve with other arguments').click();
    const edit = page.locator('form#edit');
    await edit.getByRole('textbox', { name: 'team' }).fill('');
    await edit.getByRole('button').click();
    const team = edit.getByRole('textbox', { name: 'team' });
    await page.getByText('The arguments cannot be used', { exact: true }).waitFor();
    expect(await team.getAttribute('aria-invalid')).toBe('true');
    expect(await page.evaluate('document.activeElement.id')).toBe('edit-team');

    await team.fill('payments-oncall');
    await edit.getByRole('textbox', { name: 'reason' }).fill('Rule R-7; ask Bob.');
    await edit.getByRole('button').click();
    await page.getByRole('heading', { name: 'Approved' }).waitFor();
    expect(await page.getByText('"reason": "Rule R-7; ask Bob."').count()).toBeGreaterThan(0);

    expect((await place.stage.end(run)).terminal).toBe('SUCCEEDED');
    expect(await effectsOf(place.stage)).toEqual([REASSIGNED]);
    const { operations } = await place.stage.runs.details(place.stage.tenant, run.ref.run);
    const sent = operations.find(({ tool }) => tool === 'reassign_ticket')?.arguments;
    if (sent === undefined) throw new Error('the ticket was reassigned');
    expect(await place.stage.store.artifacts.getJson(run.ref.tenant, sent)).toEqual({
      ticket: 'T100',
      team: 'payments-oncall',
      reason: 'Rule R-7; ask Bob.',
    });
  });

  test('approved in one tab, the other is told what was decided and by whom, and changes nothing', async () => {
    const run = await place.stage.start({ agent: 'tickets-approval' });
    const wait = await place.asked(run);
    const [bob, carol] = await Promise.all([
      place.signIn(),
      // Without its script the tab stays as it was, as one that lost its connection does.
      place.signIn({ subject: 'carol' }),
    ]);
    await carol.route('**/waits/*', (route) =>
      route.request().headers()['x-holdfast-refresh'] === undefined ? route.continue() : route.abort(),
    );
    await Promise.all([bob.goto(`/waits/${wait}`), carol.goto(`/waits/${wait}`)]);

    await bob.getByRole('button', { name: 'Approve', exact: true }).click();
    await bob.getByRole('heading', { name: 'Approved' }).waitFor();
    await carol.getByRole('textbox', { name: 'Why not?' }).fill('I would rather not.');
    await carol.getByRole('button', { name: 'Deny' }).click();

    const alert = carol.getByRole('alert');
    await alert.waitFor();
    expect(await alert.innerText()).toContain('Your answer changed nothing.');
    expect(await carol.getByRole('heading', { name: 'Approved' }).count()).toBe(1);
    expect(await carol.getByText(/^By bob,/).count()).toBe(1);
    expect(await carol.getByRole('button', { name: 'Deny' }).count()).toBe(0);

    expect((await place.stage.end(run)).terminal).toBe('SUCCEEDED');
    expect(await effectsOf(place.stage)).toEqual([REASSIGNED]);
  });

  test('an open tab is told by itself that somebody else has answered', async () => {
    const run = await place.stage.start({ agent: 'tickets-approval' });
    const wait = await place.asked(run);
    const [bob, carol] = await Promise.all([place.signIn(), place.signIn({ subject: 'carol' })]);
    await Promise.all([bob.goto(`/waits/${wait}`), carol.goto(`/waits/${wait}`)]);

    await bob.getByRole('button', { name: 'Approve', exact: true }).click();

    await carol.getByRole('heading', { name: 'Approved' }).waitFor();
    expect(await carol.getByRole('button', { name: 'Deny' }).count()).toBe(0);
    await place.stage.end(run);
  });

  test('what nobody answered in time says so, and takes no answer', async () => {
    const run = await place.stage.start({ agent: 'tickets-approval-tell' });
    const wait = await place.asked(run);
    const page = await place.signIn();
    await place.stage.end(run);

    await page.goto(`/waits/${wait}`);
    expect(await page.getByText('Nobody answered in time.').count()).toBe(1);
    expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
    expect(await effectsOf(place.stage)).toEqual([]);
  });
});

describe('A3: the run asks for what it was not told', () => {
  test('the form is made from the schema; the answer goes on with the same run', async () => {
    const run = await place.stage.start({ goal: 'Reassign the ticket to the right team.', data: {} });
    const page = await place.signIn();
    await page.goto(`/waits/${await place.asked(run)}`);

    await page.getByRole('button', { name: 'Answer' }).click();
    await page.getByText('The answer is not what is asked for', { exact: true }).waitFor();
    expect(await page.locator('[aria-invalid="true"], fieldset.faulty').count()).toBe(1);

    await page.getByRole('textbox').fill('T100');
    await page.getByRole('button', { name: 'Answer' }).click();
    await page.getByText('Your answer was taken.').waitFor();

    expect((await place.stage.end(run)).terminal).toBe('SUCCEEDED');
    expect(await effectsOf(place.stage)).toEqual([REASSIGNED]);
  });
});

describe('who may not', () => {
  test('a viewer reads what is asked and has no form for it', async () => {
    const run = await place.stage.start({ agent: 'tickets-approval' });
    const wait = await place.asked(run);
    const page = await place.signIn({ subject: 'vera', roles: ['viewer'] });

    await page.goto(`/waits/${wait}`);

    expect(await page.getByText('Somebody else has to answer.').count()).toBe(1);
    expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
    await place.stage.runs.cancel(place.stage.tenant, run.ref.run);
    await place.stage.end(run);
  });

  test('without a token every page asks for one and leads back; the token is in no address and no log', async () => {
    const page = await place.signIn();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL('**/signin');

    await page.goto('/summary');
    expect(new URL(page.url()).pathname).toBe('/signin');
    const token = await place.tokenOf();
    await page.getByLabel('Your token').fill(token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL('**/summary');

    expect(place.stage.serviceLog()).not.toContain(token.split('.')[2] ?? token);
    const [cookie] = await page.context().cookies();
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Lax' });
  });
});
