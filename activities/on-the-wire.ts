/** Where activities meet the history: inputs get their full shape, answers their small one (`workflows/contract/wire`). */
import type { Activities, Carried } from '../workflows/contract/activities';
import type { Totals } from '../workflows/machine/ledger';
import {
  packContext,
  packJudged,
  packTotals,
  unpackEvents,
  type Wire,
  type WireEvents,
} from '../workflows/contract/wire';

export const onTheWire = (activities: Activities): Wire<Activities> => ({
  ...activities,
  freezeContext: async (input) => packContext(await activities.freezeContext(input)),
  judgeCandidate: async (input) => packJudged(await activities.judgeCandidate(input)),
  carry: (input) => activities.carry(unpacked(input)),
  runAttempt: async (input) => {
    const outcome = await activities.runAttempt(unpacked(input));
    return { ...outcome, ...packedTotals(outcome) };
  },
  readLong: (input) => activities.readLong(unpacked(input)),
  dispatch: async (input) => {
    const outcome = await activities.dispatch(unpacked(input));
    return { ...outcome, ...packedTotals(outcome) };
  },
  pursue: (input) => activities.pursue(unpacked(input)),
  openWait: (input) => activities.openWait(unpacked(input)),
  readWait: (input) => activities.readWait(unpacked(input)),
  adoptPlan: (input) => activities.adoptPlan(unpacked(input)),
  stopOperations: (input) => activities.stopOperations(unpacked(input)),
  commit: (input) => activities.commit(unpacked(input)),
});

const unpacked = <Input extends { readonly events: WireEvents }>(
  input: Input,
): Omit<Input, 'events'> & Pick<Carried, 'events'> => ({ ...input, events: unpackEvents(input.events) });

const packedTotals = ({ totals }: { readonly totals: Totals }) => ({ totals: packTotals(totals) });
