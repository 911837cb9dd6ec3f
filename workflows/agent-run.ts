/** An agent run: wait for an event, decide, perform. Everything else is in the machine or behind an activity. */
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { CancellationScope, log, proxyLocalActivities, upsertSearchAttributes } from '@temporalio/workflow';
import { Carrier } from './carrier';
import { causeOf } from './cause';
import type { AgentRunInput, LocalActivities } from './contract/activities';
import { SEARCH_ATTRIBUTES, type RunOutcome } from './contract/messages';
import { registerHandlers } from './handlers';
import { Inbox } from './inbox';
import { decide, type Decided } from './machine/decide';
import type { RunEvent } from './machine/events';
import { openRun } from './machine/open-run';
import type { Run } from './machine/run';
import { isTerminal, type State } from './machine/states';
import { Performer } from './perform';
import { LOCAL } from './policies';

const STATE_KEY = defineSearchAttributeKey(SEARCH_ATTRIBUTES.state, SearchAttributeType.KEYWORD);
const { openRun: open } = proxyLocalActivities<LocalActivities>(LOCAL);

export async function agentRun(input: AgentRunInput): Promise<RunOutcome> {
  const root = CancellationScope.current();
  // Cancellation is an event like any other; it must not tear down what is under way.
  return CancellationScope.nonCancellable(async () => {
    const inbox = new Inbox();
    const carrier = new Carrier(input.ref);
    const performer = new Performer(input.ref, inbox, carrier);
    let run: Run | undefined;
    registerHandlers({ inbox, performer, root, current: () => run });

    const { limits, obstacle } = await open(input);
    const opened = openRun({
      id: input.ref.run,
      limits,
      at: Date.now(),
      ...(obstacle === undefined ? {} : { obstacle }),
    });
    run = opened.run;
    performer.open(run, opened.effects);

    while (!isTerminal(run.state)) {
      const event = await inbox.next();
      const decided: Decided = decide(run, event);
      record(carrier, decided, event);
      announce(run.state, decided.run.state);
      run = decided.run;
      performer.perform(run, decided.effects);
      if (isParking(decided)) performer.flush();
    }
    performer.stop();
    for (const event of inbox.drain()) {
      const decided = decide(run, event);
      record(carrier, decided, event);
      run = decided.run;
    }
    if (carrier.hasLate) await performer.carry();
    return outcomeOf(run);
  });
}

const record = (carrier: Carrier, { run, transition }: Decided, event: RunEvent): void => {
  const cause = causeOf(event);
  carrier.add({ ...transition, at: event.at, cause });
  log.info('transition', { run: run.id, ...transition, ...cause });
};

const isWaiting = (state: State): boolean => state === 'WAITING_TOOL' || state === 'WAITING_USER';

/** A run that goes to wait has nothing else that would bring its events; opening a wait brings them itself. */
const isParking = ({ transition, effects }: Decided): boolean =>
  isWaiting(transition.to) && transition.from !== transition.to && !effects.some(({ kind }) => kind === 'openWait');

/** Search attributes change only where a run begins or stops to wait, and at its end. */
const announce = (from: State, to: State): void => {
  if (from === to || !(isWaiting(from) || isWaiting(to) || isTerminal(to))) return;
  upsertSearchAttributes([{ key: STATE_KEY, value: to }]);
};

const outcomeOf = (run: Run): RunOutcome => {
  const { ending } = run;
  if (ending === undefined) throw new Error('a run that ended has an ending');
  return { terminal: ending.as, reason: ending.reason };
};
