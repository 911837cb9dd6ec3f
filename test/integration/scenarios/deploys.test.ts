/** Other releases of a worker: what a run was bound to is what it goes on with, or a person is asked. */
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { effectsOf, sendsOf, type Seen } from '../../support/scenario/effects';
import { createPeople } from '../../support/scenario/people';
import { setStage, type Stage } from '../../support/scenario/stage';

const agentsOf = (release: string): string => join(__dirname, '..', '..', 'support', 'scenario', 'releases', release);
const REASSIGNED: Seen = { kind: 'reassign', ticket: 'T100', args: { team: 'payments-oncall' } };

let stage: Stage;
beforeAll(async () => {
  stage = await setStage({ isWorkerStarted: false });
});
afterEach(() => stage.checkAndReset());
afterAll(() => stage.close());

describe('F4: another release takes a running run over', () => {
  test.each([
    ['without the tool', 'without-tool.ts'],
    ['with another schema of the tool', 'changed-schema.ts'],
  ])(
    '%s: it is handed to a person, nothing is sent, and a worker that has the tool goes on',
    async (_title, release) => {
      const people = await createPeople(stage);
      const pinned = await stage.startWorker();
      // The first reading lasts until the worker is gone; the desk answers the next one at once.
      await stage.desk.addFault({ match: { route: 'get_ticket' }, fault: { kind: 'slow', delayMs: 900 } });
      const run = await stage.start();
      await stage.until(
        () => stage.desk.requests(),
        (requests) => requests.length === 1,
      );
      await pinned.kill();
      const other = await stage.startWorker({ agents: agentsOf(release) });

      const wait = await people.asked(run, 'handoff');

      expect(wait.reason).toBe('definition.missing');
      expect(await sendsOf(stage, 'reassign')).toBe(0);
      const requests = stage.model.requests.length;
      await other.kill();
      const again = await stage.startWorker();
      expect(await stage.runs.get(stage.tenant, run.ref.run)).toMatchObject({ state: 'WAITING_USER' });
      await people.answer(wait, { take: false, guidance: 'The tool is back: go on.' });
      const row = await stage.end(run, 60_000);

      expect(row.terminal).toBe('SUCCEEDED');
      expect(await effectsOf(stage)).toEqual([REASSIGNED]);
      expect(stage.model.requests.length).toBeGreaterThan(requests);
      await again.kill();
    },
  );
});
