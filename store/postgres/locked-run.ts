/**
 * The run row, locked until the transaction ends. Whoever moves the journal, the totals, the plan or the end of a run locks
 * it first and operations after it, so that no two of them wait for each other.
 */
import type { RunRef } from '../../workflows/contract/records';
import type { Totals } from '../../workflows/machine/ledger';
import type { State, Terminal } from '../../workflows/machine/states';
import { RowMissing } from '../errors';
import type { Trx } from './connect';
import { TOTALS_COLUMNS } from './totals';

export interface LockedRun {
  readonly ref: RunRef;
  readonly state: State | 'STARTING';
  readonly seq: number;
  readonly planVersion: number;
  readonly nextPosition: number;
  readonly totals: Totals;
  readonly end?: { readonly terminal: Terminal; readonly reason: string };
  readonly isCancelRequested: boolean;
  readonly isStopped: boolean;
}

export const lockRun = async (trx: Trx, ref: RunRef): Promise<LockedRun> => {
  const row = await trx
    .selectFrom('runs')
    .select([
      'state',
      'seq',
      'plan_version',
      'next_position',
      'terminal',
      'reason',
      'cancel_requested_at',
      'stopped_at',
    ])
    .select(TOTALS_COLUMNS)
    .where('tenant', '=', ref.tenant)
    .where('run', '=', ref.run)
    .forUpdate()
    .executeTakeFirst();
  if (row === undefined) throw new RowMissing(ref.run);
  const { state, seq, plan_version, next_position, terminal, reason, cancel_requested_at, stopped_at, ...totals } = row;
  return {
    ref,
    state,
    seq,
    planVersion: plan_version,
    nextPosition: next_position,
    totals,
    ...(terminal === null ? {} : { end: { terminal, reason: reason ?? '' } }),
    isCancelRequested: cancel_requested_at !== null,
    isStopped: stopped_at !== null,
  };
};
