/**
 * Whether a write rests on the object as it is now known. The version goes with the operation, and the far side is held to it
 * where it can be.
 */
import { fail, pass, type Judgement, type PinnedContext, type Validator } from './judgement';
import type { ReadyCall } from './ready-call';
import { showText } from './show-value';

export interface FreshnessInput {
  readonly context: PinnedContext;
  readonly call: ReadyCall;
}

/** With the version that the write expects, where one is known. */
const judge = ({ context, call }: FreshnessInput): Judgement<ReadyCall> => {
  const { face, target } = call;
  if (face.effect === 'read' || target === undefined) return pass(call);
  const current = newestVersion(context.completion.facts.all, target);
  const shown = call.expectedVersion ?? shownVersion(context, target) ?? current;
  if (current !== undefined && shown !== undefined && current !== shown) return failStale(target, shown, current);
  if (shown === undefined && face.tool?.idempotency === 'version') return failUnread(target);
  return pass(
    shown === undefined ? call : { ...call, expectedVersion: shown },
    shown === undefined ? {} : { target, version: shown },
  );
};

interface Versioned {
  readonly object: string;
  readonly version?: string;
}

/** Facts are in the order in which they were confirmed. */
const newestVersion = (facts: readonly Versioned[], target: string): string | undefined =>
  facts.findLast(({ object, version }) => object === target && version !== undefined)?.version;

/** What the model was shown when it decided; a context shows the newest facts first. */
const shownVersion = ({ manifest }: PinnedContext, target: string): string | undefined =>
  manifest.facts.find(({ object, version }) => object === target && version !== undefined)?.version;

const failStale = (target: string, shown: string, current: string): Judgement<never> =>
  fail(
    {
      code: 'candidate.stale',
      error: 'STATE_CONFLICT',
      message: `${showText(target)}: this rests on version ${showText(shown)}, which version ${showText(current)} has superseded`,
      field: 'version',
      value: showText(shown),
      expected: showText(current),
    },
    { target, shown, current },
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
