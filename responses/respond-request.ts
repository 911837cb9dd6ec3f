/** How answering a wait is put to the policy: the same for a token that is shown and for a response that is judged. */
import type { OperationRow, Principal, RunRow, WaitRow } from '../store/rows';
import type { PolicyRequest } from '../policy/create-policy';

export interface RespondSubject {
  /** Whoever answers, or would. */
  readonly principal: Principal;
  readonly run: Pick<RunRow, 'ref' | 'agent' | 'principal'>;
  readonly wait: Pick<WaitRow, 'id' | 'kind'>;
  readonly operation?: Pick<OperationRow, 'tool' | 'target'>;
}

export const respondRequest = ({ principal, run, wait, operation }: RespondSubject): PolicyRequest => ({
  action: 'respond',
  principal,
  tenant: run.ref.tenant,
  resource: { kind: 'wait', id: wait.id, waitKind: wait.kind },
  context: {
    requester: run.principal.subject,
    agent: run.agent,
    run: run.ref.run,
    ...(operation === undefined ? {} : { tool: operation.tool }),
    ...(operation?.target === undefined ? {} : { target: operation.target }),
  },
});
