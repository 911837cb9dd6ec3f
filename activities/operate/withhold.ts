/** Ends an operation that is not sent: nobody had executed it, and the reason is stored with it. */
import type { ActivityDeps } from '../deps';
import type { DispatchVerdict } from './judge-dispatch';
import { makeFailure } from './failure';
import { storeLearned, type Known, type Learned } from './learned';
import type { LoadedOperation } from './load-operation';

type Withheld = Extract<DispatchVerdict, { kind: 'denied' | 'stale' }>;

export const withhold = (deps: ActivityDeps, operation: LoadedOperation, reason: Withheld | Learned): Promise<Known> =>
  storeLearned(deps, operation, { learned: 'kind' in reason ? toLearned(operation, reason) : reason });

/** Refused before its first send; one that was proved unexecuted is called off instead. */
const toLearned = ({ row, evidence }: LoadedOperation, reason: Withheld): Learned => {
  const state = row.state === 'CREATED' ? 'REFUSED' : 'CANCELLED';
  if (reason.kind === 'stale') {
    const { target = 'the object', expectedVersion = '' } = row;
    const message = `${target} is at version ${reason.current}, and this rests on version ${expectedVersion}; nothing was sent`;
    const failure = makeFailure('STATE_CONFLICT', { message, confirmed: { object: target, version: reason.current } });
    return { state, code: 'STATE_CONFLICT', failure };
  }
  const message = `${row.tool} with these arguments is not permitted for the person who asked; nothing was sent`;
  return {
    state,
    code: 'PERMISSION_DENIED',
    failure: makeFailure('PERMISSION_DENIED', { message, evidence: [evidence] }),
    facts: [
      {
        object: `policy:${row.tool}`,
        field: 'denied',
        value: { arguments: row.argumentHash, policies: [...reason.policies] },
        evidence,
      },
    ],
  };
};
