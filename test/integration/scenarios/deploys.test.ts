/** Other releases of a worker: what a run was bound to is what it goes on with, or a person is asked. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { RunRow } from '../../../store/rows';
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

describe('releases of a Worker Deployment', () => {
  const name = `deployment-${randomBytes(4).toString('hex')}`;

  /** As `temporal worker deployment set-current-version` does, once the release has shown itself. */
  const makeCurrent = (buildId: string): Promise<boolean> =>
    stage.until(
      async () => {
        try {
          await stage.temporal.workflowService.setWorkerDeploymentCurrentVersion({
            namespace: 'default',
            deploymentName: name,
            buildId,
            identity: 'test',
          });
          return true;
        } catch {
          return false;
        }
      },
      (isDone) => isDone,
    );
  const releaseOf = async (run: RunRow): Promise<string | null | undefined> => {
    const { raw } = await stage.temporal.workflow.getHandle(run.ref.run).describe();
    return raw.workflowExecutionInfo?.versioningInfo?.deploymentVersion?.buildId;
  };

  test('a run that waits stays with its release, and new ones begin with the current', async () => {
    const people = await createPeople(stage);
    const first = await stage.startWorker({ deployment: { name, buildId: 'one' } });
    await makeCurrent('one');
    const early = await stage.start({ agent: 'tickets-approval' });
    const wait = await people.asked(early, 'approval');
    const second = await stage.startWorker({ deployment: { name, buildId: 'two' } });
    await makeCurrent('two');

    const late = await stage.start({ data: { ticket: 'T101' } });
    await stage.end(late, 60_000);
    await people.answer(wait, { decision: 'approve' });
    const row = await stage.end(early, 60_000);

    expect(row.terminal).toBe('SUCCEEDED');
    expect(await releaseOf(early)).toBe('one');
    expect(await releaseOf(late)).toBe('two');
    await Promise.all([first.kill(), second.kill()]);
    await stage.temporal.workflowService.setWorkerDeploymentCurrentVersion({
      namespace: 'default',
      deploymentName: name,
      buildId: '',
      identity: 'test',
    });
  });
});

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

test('a worker whose agents are faulty ends at once, and takes nothing', async () => {
  await expect(stage.startWorker({ agents: agentsOf('faulty.ts') })).rejects.toThrow('ended before it was ready');
});
