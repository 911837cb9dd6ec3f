/** Faults → the finding that the next context holds. */
import type { Finding } from '../../workflows/contract/records';
import type { Fault } from './judgement';

export interface PlacedFault {
  /** 0 where the candidate as a whole is at fault. */
  readonly ordinal: number;
  readonly fault: Fault;
}

export const toFinding = (faults: readonly PlacedFault[]): Finding => {
  const [first] = faults;
  if (first === undefined)
    return { schemaVersion: 1, code: 'candidate.empty', message: 'the answer holds nothing to judge' };
  const calls = faults.filter(({ ordinal }) => ordinal > 0).map(toCall);
  const own = faults.length === 1 ? detailsOf(first.fault) : {};
  return {
    schemaVersion: 1,
    code: faults.every(({ fault }) => fault.code === first.fault.code) ? first.fault.code : 'candidate.calls_at_fault',
    message: faults
      .map(({ ordinal, fault }) => (faults.length === 1 ? fault.message : `call ${String(ordinal)}: ${fault.message}`))
      .join('\n'),
    ...own,
    ...(calls.length === 0 ? {} : { calls }),
  };
};

const detailsOf = ({ field, value, expected, gaps }: Fault): Partial<Finding> => ({
  ...(field === undefined ? {} : { field }),
  ...(value === undefined ? {} : { value }),
  ...(expected === undefined ? {} : { expected }),
  ...(gaps === undefined ? {} : { gaps }),
});

const toCall = ({ ordinal, fault }: PlacedFault): NonNullable<Finding['calls']>[number] => ({
  ordinal,
  code: fault.error,
  message: fault.message,
  ...(fault.field === undefined ? {} : { field: fault.field }),
});
