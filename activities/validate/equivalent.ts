/**
 * Whether this has been done, is being done, or was refused before: by operations with the same tool and arguments, of this
 * run or of the one that it reopens. Nothing is done twice unless a person says so.
 */
import { coordinatesOf, operationIdOf, type OperationId } from '../../workflows/contract/ids';
import { isUnproved, isUnsent } from '../../workflows/machine/operation-transitions';
import { fail, pass, type Judgement, type PinnedContext, type Validator } from './judgement';
import type { RecordedOperation } from './look-ups';
import type { ReadyCall } from './ready-call';

export interface EquivalentInput {
  readonly context: PinnedContext;
  readonly call: ReadyCall;
  /** Oldest first. */
  readonly operations: readonly RecordedOperation[];
  /** Calls before this one in the candidate that may be carried out. */
  readonly earlier: readonly ReadyCall[];
}

/** The operation that an approval has to say is repeated, where there is one. */
export type Repeats = OperationId | undefined;

const judge = ({ context, call, operations, earlier }: EquivalentInput): Judgement<Repeats> => {
  const prior = operations.filter(
    (operation) => operation.equivalent === undefined && !isOfThisStep(context, operation),
  );
  const refused = prior.findLast(({ code }) => code === 'PERMISSION_DENIED');
  if (refused !== undefined) return refuseAgain(call, refused);
  if (call.face.effect === 'read') return pass(undefined);
  const open = prior.findLast(({ state }) => isUnproved(state) || isUnsent(state));
  if (open !== undefined) return waitFor(call, open);
  const done = prior.findLast(({ state }) => state === 'SUCCEEDED');
  if (done !== undefined && !call.face.isRepeatable) {
    return { kind: 'standIn', operation: done, evidence: { operation: done.id } };
  }
  const twin = earlier.findLast((other) => isSame(other, call));
  const repeats = twin === undefined ? done?.id : operationIdOf(context.ref.run, context.step, twin.ordinal);
  return repeats === undefined
    ? pass(undefined)
    : { kind: 'pass', value: repeats, asks: `it repeats ${repeats}`, evidence: { operation: repeats } };
};

/** Rows of this very candidate are there when it is judged again; the calls before it speak for them. */
const isOfThisStep = ({ ref, step }: PinnedContext, { id }: RecordedOperation): boolean => {
  const at = coordinatesOf(id);
  return at.run === ref.run && at.step === step;
};

const isSame = (one: ReadyCall, other: ReadyCall): boolean =>
  one.face.name === other.face.name && one.argumentHash === other.argumentHash;

const refuseAgain = ({ face }: ReadyCall, { id, evidence }: RecordedOperation): Judgement<never> => ({
  kind: 'refused',
  code: 'PERMISSION_DENIED',
  reason: 'operation.refused_before',
  message: `${face.name} with these arguments was refused before, as ${id}; it is not asked for again`,
  rests: evidence === undefined ? [] : [evidence],
  facts: [],
  evidence: { operation: id },
});

const waitFor = ({ face }: ReadyCall, { id, state }: RecordedOperation): Judgement<never> =>
  fail(
    {
      code: 'operation.open',
      error: 'OUTCOME_UNKNOWN',
      message: `${face.name} with these arguments is ${id}, which is ${state}; there will be no second one while its outcome is not known`,
      value: id,
      expected: 'another action, or the outcome of that operation',
    },
    { operation: id, state },
  );

export const EQUIVALENT: Validator<EquivalentInput, Repeats> = { name: 'equivalent', version: '1', judge };
