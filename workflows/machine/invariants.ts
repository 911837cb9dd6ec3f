/** What always holds of a run. Checked after every transition: a violation is our own bug, and nothing goes on from it. */
import { assertMachine } from './assert';
import { LOOP_WINDOW, type Run } from './run';
import { isTerminal } from './states';

/** Throws MachineAssertion that names the invariant broken. */
export const assertRun = (run: Run): void => {
  assertState(run);
  assertCalls(run);
  assertWaits(run);
  assertMachine(run.loops.traces.length <= LOOP_WINDOW, 'the loop window is bounded');
  assertMachine(
    Object.values(run.totals).every((total) => total >= 0),
    'the ledger is never negative',
  );
};

const assertState = (run: Run): void => {
  const { state, attempt, ending, context } = run;
  assertMachine(
    (state !== 'MODEL_RUNNING' && state !== 'VALIDATING') || context !== undefined,
    `${state} has a context`,
  );
  assertMachine(state !== 'MODEL_RUNNING' || attempt !== undefined, 'MODEL_RUNNING has an attempt');
  assertMachine(state !== 'VALIDATING' || run.candidate !== undefined, 'VALIDATING has a candidate');
  assertMachine(state !== 'FINALIZING' || ending !== undefined, 'FINALIZING knows what it ends as');
  assertMachine(!isTerminal(state) || ending?.as === state, 'a terminal is the ending that was committed');
  assertMachine(
    run.isCommitting !== true || state === 'FINALIZING' || isTerminal(state),
    'a commit is not left before it is answered',
  );
};

const assertCalls = ({ state, calls, ending }: Run): void => {
  const isOpen = (phase: string): boolean => calls.some((call) => call.phase === phase);
  assertMachine(!isOpen('JUDGING'), 'a judged candidate leaves no call without a verdict');
  assertMachine(
    !(isOpen('DUE') || isOpen('SENDING')) || state === 'TOOL_RUNNING' || ending !== undefined,
    'what is due or in flight means TOOL_RUNNING',
  );
  assertMachine(state !== 'TOOL_RUNNING' || isOpen('SENDING'), 'TOOL_RUNNING has something in flight');
  assertMachine(
    state !== 'WAITING_TOOL' || isOpen('PENDING') || ending?.as === 'SUCCEEDED',
    'WAITING_TOOL has a call to pursue, or an end to look at again',
  );
  assertMachine(
    state !== 'READY' || calls.every((call) => call.phase === 'ENDED'),
    'a new step begins when every call has its end',
  );
  assertMachine(
    calls.every((call) => call.phase !== 'PENDING' || call.next !== undefined),
    'a pending call knows what it waits for',
  );
  const sending = calls.filter((call) => call.effect === 'write' && call.phase === 'SENDING');
  assertMachine(sending.length <= 1, 'one write is in flight at a time');
};

const assertWaits = ({ state, calls, waits }: Run): void => {
  for (const call of calls) {
    const isListed = waits.some((wait) => wait.ordinal === call.ordinal);
    assertMachine(
      (call.phase === 'ASKING') === isListed,
      `call ${String(call.ordinal)} is asking exactly while its wait is open`,
    );
  }
  assertMachine(state !== 'WAITING_USER' || waits.length > 0, 'WAITING_USER lists what it waits for');
  assertMachine(!isTerminal(state) || waits.length === 0, 'a terminal has no open wait');
};
