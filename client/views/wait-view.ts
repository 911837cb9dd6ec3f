/** Waits as those who answer them see them. */
import type { ListedWaitView, WaitView } from '../schemas/wait';
import type { WaitDetails, WaitSummary } from '../waits';
import { parseObject } from './run-view';
import { given, toIso } from './time';

export const toListedWait = (wait: WaitSummary): ListedWaitView => ({
  wait: wait.wait,
  run: wait.run,
  kind: wait.kind,
  state: wait.state,
  stateVersion: wait.stateVersion,
  planVersion: wait.planVersion,
  openedAt: toIso(wait.openedAt),
  expiresAt: toIso(wait.expiresAt),
  agent: wait.agent,
  goal: wait.goal,
  requester: wait.requester,
  ...given({ operation: wait.operation, about: wait.about, reason: wait.reason }),
});

export const toWaitView = (wait: WaitDetails): WaitView => ({
  ...toListedWait(wait),
  remainingMs: wait.remainingMs,
  planHash: wait.planHash,
  plan: parsePlan(wait.plan),
  responseSchema: parseObject(wait.responseSchema),
  mayRespond: wait.mayRespond,
  responses: wait.responses.map(({ id, principal, receivedAt, verdict, message }) => ({
    id,
    subject: principal.subject,
    receivedAt: toIso(receivedAt),
    verdict,
    ...given({ message }),
  })),
  ...given({ token: wait.token, argumentSchema: wait.argumentSchema && parseObject(wait.argumentSchema) }),
  ...(wait.response === undefined ? {} : { response: parseJson(wait.response) }),
});

// Read-only here and writable to the schemas' types; nobody writes them.
const parsePlan = (plan: WaitDetails['plan']): WaitView['plan'] => plan as WaitView['plan'];
const parseJson = (value: unknown): WaitView['response'] => value as WaitView['response'];
