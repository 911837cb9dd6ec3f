/** What those who perform effects share. */
import type { Carrier } from './carrier';
import type { RunRef } from './contract/records';
import type { Flight } from './flight';
import type { Inbox } from './inbox';
import type { Run } from './machine/run';
import type { SideWork } from './side-work';

export interface Means {
  readonly ref: RunRef;
  readonly inbox: Inbox;
  readonly carrier: Carrier;
  readonly flight: Flight;
  readonly side: SideWork;
  /** The run as it is now; undefined until it is open. */
  readonly current: () => Run | undefined;
}
