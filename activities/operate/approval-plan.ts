/** The plan of one operation that needs a person after all, since the policy has changed after it was proposed. */
import type { ArtifactHash } from '../../workflows/contract/ids';
import type { Plan } from '../../workflows/contract/records';
import type { ActivityDeps } from '../deps';
import type { LoadedOperation } from './load-operation';

export const storeApprovalPlan = (deps: ActivityDeps, operation: LoadedOperation): Promise<ArtifactHash> =>
  deps.store.artifacts.putJson(operation.ref.tenant, toApprovalPlan(operation));

const toApprovalPlan = ({ row, input, snapshot }: LoadedOperation): Plan => ({
  schemaVersion: 1,
  kind: 'approval',
  why: 'The policy in force now permits it with the approval of a person only.',
  operations: [
    {
      id: row.id,
      tool: row.tool,
      arguments: input,
      ...(row.target === undefined ? {} : { target: row.target }),
      ...(row.expectedVersion === undefined ? {} : { expectedVersion: row.expectedVersion }),
      risk: snapshot.tools.find(({ name }) => name === row.tool)?.risk ?? 'high',
    },
  ],
  isComplete: true,
});
