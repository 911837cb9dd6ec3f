/** An agent run: wait for an event, decide, perform. Everything else is in the machine or behind an activity. */
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import {
  CancellationScope,
  condition,
  continueAsNew,
  log,
  proxyLocalActivities,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import { Carrier } from './carrier';
import { causeOf } from './cause';
import type { AgentRunInput, LocalActivities } from './contract/activities';
import { SEARCH_ATTRIBUTES, type RunOutcome } from './contract/messages';
import { CONTINUE_AFTER_EVENTS, Flight } from './flight';
import { registerHandlers } from './handlers';
import { Inbox, TaskFault } from './inbox';
import { resumeRun } from './machine/carried-run';
import { decide, type Decided } from './machine/decide';
import type { RunEvent } from './machine/events';
import { openRun } from './machine/open-run';
import type { Change } from './machine/change';
import type { Run } from './machine/run';
import { isTerminal, type State } from './machine/states';
import type { Means } from './means';
import { Performer } from './perform';
import { LOCAL } from './policies';
import { SideWork } from './side-work';

const STATE_KEY = defineSearchAttributeKey(SEARCH_ATTRIBUTES.state, SearchAttributeType.KEYWORD);
const { openRun: open } = proxyLocalActivities<LocalActivities>(LOCAL);

export async function agentRun(input: AgentRunInput): Promise<RunOutcome> {
  const root = CancellationScope.current();
  // Cancellation is an event like any other; it must not tear down what is under way.
  return CancellationScope.nonCancellable(async () => {
    let run = input.carried?.run;
    const current = (): Run | undefined => run;
    const means = makeMeans(input, current);
    const { inbox, carrier } = means;
    const performer = new Performer(means);
    registerHandlers({ means, performer, root });

    if (input.carried === undefined) {
      const opened = await openNew(input);
      run = opened.run;
      performer.open(run, opened.effects);
    } else {
      const resumed = resumeRun(input.carried, Date.now());
      run = resumed.run;
      performer.resume(run, resumed.effects);
    }

    while (!isTerminal(run.state)) {
      const event = await nextEvent(means, performer);
      if (event === undefined) return continueAsNew<typeof agentRun>({ ...input, carried: performer.handOver(run) });
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

const makeMeans = ({ ref, continueAfterEvents }: AgentRunInput, current: Means['current']): Means => {
  const inbox = new Inbox();
  const flight = new Flight({ afterEvents: continueAfterEvents ?? CONTINUE_AFTER_EVENTS, current });
  return { ref, inbox, carrier: new Carrier(ref), flight, side: new SideWork(inbox, flight), current };
};

const openNew = async (input: AgentRunInput): Promise<Change> => {
  const { obstacle, ...opened } = await open(input).catch((error: unknown) => {
    throw new TaskFault(error);
  });
  return openRun({
    ...opened,
    id: input.ref.run,
    at: Date.now(),
    ...(obstacle === undefined ? {} : { obstacle }),
  });
};

/** Undefined where the run is to continue as new: nothing has happened, nothing is in flight, and every event is stored. */
const nextEvent = async ({ inbox, flight, carrier }: Means, performer: Performer): Promise<RunEvent | undefined> => {
  for (;;) {
    await condition(() => !inbox.isEmpty || (flight.isHeld && flight.isEmpty));
    const event = inbox.take();
    if (event !== undefined || carrier.isEmpty) return event;
    await performer.carry();
  }
};

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
