/** What a person is shown who has to find out what became of an operation: everything that is known, and why they are asked. */
import type { OperationRow } from '../../store/rows';
import type { ArtifactHash } from '../../workflows/contract/ids';
import type { Plan } from '../../workflows/contract/records';
import type { ActivityDeps } from '../deps';
import type { LoadedOperation } from './load-operation';
import type { PersonReason } from './next-for-unknown';

const WHY: Readonly<Record<PersonReason, string>> = {
  'unknown.no_way_to_ask':
    'The far side offers no way to ask what became of it, and sending it again could do it twice.',
  'unknown.not_found_proves_nothing':
    'The far side does not find it, which proves nothing there, and sending it again could do it twice.',
  'unknown.contradiction': 'The far side accepted it once and now does not know it: one of its answers is wrong.',
  'unknown.look_up_failed': 'The far side could not be asked, however often it was tried.',
  'unknown.key_forgotten':
    'The far side may have forgotten its idempotency key by now, so sending it again could do it twice.',
  'unknown.sends_spent': 'It was sent as often as is allowed, without an outcome.',
  'unknown.tool_fault': 'Our own tool failed after it had begun to send; sending it again would fail in the same way.',
  'unknown.stopped': 'Nothing more is sent for it, and the far side offers no way to ask what became of it.',
  'unknown.job_lost': 'The far side accepted it as a job, and how that ended could not be found out.',
  'unknown.refused_later': 'It was sent again and refused; whether the first send was executed could not be found out.',
  'unknown.unresolved': 'What became of it could not be found out.',
};

interface Asked {
  readonly row: OperationRow;
  readonly why: PersonReason;
}

export const storeReconciliationPlan = (
  deps: ActivityDeps,
  operation: LoadedOperation,
  asked: Asked,
): Promise<ArtifactHash> => deps.store.artifacts.putJson(operation.ref.tenant, toReconciliationPlan(operation, asked));

export const toReconciliationPlan = (
  { input, snapshot }: Pick<LoadedOperation, 'input' | 'snapshot'>,
  { row, why }: Asked,
): Plan => ({
  schemaVersion: 1,
  kind: 'reconciliation',
  why: [WHY[why], ...toldOf(row), 'Find out at the far side whether it was executed, and say so with the reason.'].join(
    '\n',
  ),
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

const toldOf = (row: OperationRow): readonly string[] => [
  `Idempotency key: ${row.id}`,
  ...(row.job === undefined ? [] : [`Job at the far side: ${row.job}`]),
  `Sent ${times(row.generation)}${row.firstDispatchedAt === undefined ? '' : `, first at ${toIso(row.firstDispatchedAt)}`}${lastOf(row)}`,
  `Looked up ${times(row.lookUps)}, polled ${times(row.polls)}`,
];

const lastOf = ({ generation, dispatchedAt }: OperationRow): string =>
  generation > 1 && dispatchedAt !== undefined ? `, last at ${toIso(dispatchedAt)}` : '';

const times = (count: number): string => (count === 1 ? 'once' : `${String(count)} times`);

const toIso = (ms: number): string => new Date(ms).toISOString();
