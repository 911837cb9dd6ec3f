/**
 * `finish(cannot)`: passes only where the records show what stands in the way, and an open gap is about it. What was blocked
 * once and done later blocks nothing.
 */
import type { Gap, OperationSummary } from '../../workflows/contract/records';
import { findGaps } from '../context/find-gaps';
import { viewOf, type AnswerInput } from './answer-rules';
import { fail, pass, type Judgement, type Validator } from './judgement';

/** The code of the run's end: FAILED with reason `blocked.<code>`. */
export type Block =
  'permission' | 'denied' | 'expired' | 'withdrawn' | 'not_found' | 'unresolved' | 'unavailable' | 'tool_fault';

const BLOCKS_BY_CODE: ReadonlyMap<string, Block> = new Map([
  ['PERMISSION_DENIED', 'permission'],
  ['DENIED', 'denied'],
  ['EXPIRED', 'expired'],
  ['NOT_FOUND', 'not_found'],
  ['OUTCOME_UNKNOWN', 'unresolved'],
  ['UNAVAILABLE', 'unavailable'],
  ['RATE_LIMITED', 'unavailable'],
  ['TOOL_FAULT', 'tool_fault'],
]);

const BLOCKS_BY_STATE: ReadonlyMap<string, Block> = new Map([
  ['UNKNOWN', 'unresolved'],
  ['UNRESOLVED', 'unresolved'],
]);

const judge = ({ context, lookUps }: AnswerInput): Judgement<Block> => {
  const gaps = findGaps(context.agent, viewOf(context, lookUps));
  if (gaps.length === 0) return failUnshown('nothing that the task lacks is open: finish with outcome done', gaps);
  const found = findBlock(lookUps.operations, gaps);
  if (found !== undefined) return pass(found.block, { operation: found.operation.id });
  if (lookUps.isWithdrawn) return pass('withdrawn');
  if (lookUps.hasExpiredWait) return pass('expired');
  if (lookUps.hasForbiddenTool) return pass('permission');
  return failUnshown('no record shows what stands in the way of it', gaps);
};

interface FoundBlock {
  readonly block: Block;
  readonly operation: OperationSummary;
}

/** The latest one that still counts. */
const findBlock = (operations: readonly OperationSummary[], gaps: readonly Gap[]): FoundBlock | undefined => {
  for (const operation of [...operations].reverse()) {
    const block = BLOCKS_BY_STATE.get(operation.state) ?? BLOCKS_BY_CODE.get(operation.code ?? '');
    if (block === undefined || !isAbout(operation, gaps) || isOvercome(operation, operations)) continue;
    return { block, operation };
  }
  return undefined;
};

/** A gap that names what it needs is blocked by what is about those objects; any other gap may be blocked by anything. */
const isAbout = ({ target }: OperationSummary, gaps: readonly Gap[]): boolean =>
  target === undefined ||
  gaps.some(
    ({ needs, candidates = [] }) =>
      needs === undefined || needs.some((need) => need.startsWith(`${target}.`)) || candidates.includes(target),
  );

const isOvercome = (blocked: OperationSummary, operations: readonly OperationSummary[]): boolean =>
  operations.some(
    (other) =>
      other.state === 'SUCCEEDED' &&
      other.tool === blocked.tool &&
      other.target === blocked.target &&
      isAfter(other, blocked),
  );

const isAfter = (one: OperationSummary, other: OperationSummary): boolean =>
  one.step > other.step || (one.step === other.step && one.ordinal > other.ordinal);

const failUnshown = (why: string, gaps: readonly Gap[]): Judgement<never> =>
  fail({
    code: 'finish.block_not_shown',
    error: 'INVALID_ARGUMENT',
    message: `outcome: got cannot, but ${why}`,
    field: 'outcome',
    value: 'cannot',
    expected: 'a recorded block, or another action',
    ...(gaps.length === 0 ? {} : { gaps }),
  });

export const BLOCK: Validator<AnswerInput, Block> = { name: 'block', version: '1', judge };
