/**
 * The laws of `store/store.ts` as tests, with concurrent writers of two processes' worth of connections. `open` gives a store
 * on an empty database; it is called once.
 */
import { afterAll, beforeAll, describe } from '@jest/globals';
import { describeAttempts } from './store-contract/attempts';
import { describeEnds } from './store-contract/ends';
import type { StoreUnderTest } from './store-contract/fixtures';
import { describeInbox } from './store-contract/inbox';
import { describeJournal } from './store-contract/journal';
import { describeJudgements } from './store-contract/judgements';
import { describeOperations } from './store-contract/operations';
import { describeRecords } from './store-contract/records';
import { describeRemembered } from './store-contract/remembered';
import { describeReopened } from './store-contract/reopened';
import { describeResolutions } from './store-contract/resolutions';
import { describeResponses } from './store-contract/responses';
import { describeRuns } from './store-contract/runs';
import { describeSettling } from './store-contract/settling';
import { describeTenants } from './store-contract/tenants';
import { describeWaits } from './store-contract/waits';
import { describeWakes } from './store-contract/wakes';

export const describeStore = (name: string, open: () => Promise<StoreUnderTest>): void => {
  describe(`the store on ${name}`, () => {
    let opened: StoreUnderTest | undefined;
    const under = (): StoreUnderTest => {
      if (opened === undefined) throw new Error('the store is not open');
      return opened;
    };
    beforeAll(async () => {
      opened = await open();
    });
    afterAll(async () => {
      await opened?.close();
    });

    describeRuns(under);
    describeJournal(under);
    describeAttempts(under);
    describeOperations(under);
    describeSettling(under);
    describeRecords(under);
    describeRemembered(under);
    describeJudgements(under);
    describeWaits(under);
    describeResponses(under);
    describeWakes(under);
    describeEnds(under);
    describeResolutions(under);
    describeReopened(under);
    describeInbox(under);
    describeTenants(under);
  });
};
