/**
 * Whether a person has approved exactly what is about to be sent: by the row of their response, which names the hash of the
 * arguments, and by the arguments themselves. Whatever differs needs an approval of its own.
 */
import { z } from 'zod';
import type { WaitRow } from '../../store/rows';
import type { ActivityDeps } from '../deps';
import type { LoadedOperation } from './load-operation';
import { sha256Of } from './storable-json';

const APPROVAL = z.object({ decision: z.literal('approve'), argumentHash: z.string() });
const MAX_WAITS = 1_000;

export const isApprovedAsItIs = async (
  { store }: Pick<ActivityDeps, 'store'>,
  { ref, row, input }: Pick<LoadedOperation, 'ref' | 'row' | 'input'>,
): Promise<boolean> => {
  const waits = await store.waits.list(ref.tenant, { run: ref.run, state: 'CONSUMED', limit: MAX_WAITS });
  const given = waits.filter(({ kind, operation }) => kind === 'approval' && operation === row.id);
  return given.some((wait) => hashApprovedBy(wait) === row.argumentHash) && sha256Of(input) === row.argumentHash;
};

const hashApprovedBy = ({ response }: WaitRow): string | undefined => APPROVAL.safeParse(response).data?.argumentHash;
