/**
 * Whether a write rests on the object as it is now known. The version goes with the operation, and the far side is held to it
 * where it can be.
 */
import type { Fact } from '../../workflows/contract/records';
import { fail, pass, type Judgement, type PinnedContext, type Validator } from './judgement';
import type { ReadyCall } from './ready-call';
import { showText } from './show-value';

export interface FreshnessInput {
  readonly context: PinnedContext;
  readonly call: ReadyCall;
}

/** With the version that the write expects, where one is known. */
const judge = ({ context, call }: FreshnessInput): Judgement<ReadyCall> => {
  const { face, target, expectedVersion } = call;
  if (face.effect === 'read' || target === undefined) return pass(call);
  const newest = findNewest(context, target);
  if (newest === undefined) {
    const isBlind = expectedVersion === undefined && face.tool?.idempotency === 'version';
    return isBlind ? failUnread(target) : pass(call);
  }
  const basis = expectedVersion ?? findShown(context, newest) ?? newest.version;
  if (basis !== newest.version) return failStale(target, basis, newest.version);
  return pass({ ...call, expectedVersion: basis }, { target, version: basis });
};

type Versioned = Fact & { readonly version: string };

/** Facts are in the order in which they were confirmed. */
const findNewest = ({ facts }: PinnedContext, target: string): Versioned | undefined =>
  facts.all.findLast((fact): fact is Versioned => fact.object === target && fact.version !== undefined);

/** The version at which the context showed that very field: an older one, where it was confirmed anew since. */
const findShown = ({ manifest }: PinnedContext, { object, field }: Versioned): string | undefined =>
  manifest.facts.find((shown) => shown.object === object && shown.field === field)?.version;

const failStale = (target: string, basis: string, current: string): Judgement<never> =>
  fail(
    {
      code: 'candidate.stale',
      error: 'STATE_CONFLICT',
      message: `${showText(target)}: this rests on version ${showText(basis)}, which version ${showText(current)} has superseded`,
      field: 'version',
      value: showText(basis),
      expected: showText(current),
    },
    { target, basis, current },
  );

const failUnread = (target: string): Judgement<never> =>
  fail({
    code: 'candidate.version_unknown',
    error: 'STATE_CONFLICT',
    message: `${showText(target)}: its version is not known, read it before it is written`,
    field: 'version',
    expected: 'a version from a read',
  });

export const FRESHNESS: Validator<FreshnessInput, ReadyCall> = { name: 'freshness', version: '1', judge };
