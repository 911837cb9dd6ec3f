import { StackError, errorText } from './errors';

export interface FoundBinary {
  readonly path: string;
  readonly version: string;
  /** Which way led to it. */
  readonly source: BinarySource;
}

export type BinarySource = 'option' | 'path' | 'cache' | 'sdk' | 'wheel';

/** What a way answers: `undefined` never; a reason when it did not lead anywhere. */
export type WayOutcome =
  | { readonly kind: 'found'; readonly path: string; readonly version: string }
  | { readonly kind: 'missed'; readonly reason: string };

export interface Way {
  readonly source: BinarySource;
  /** For the message, as a person would say it: "`temporal` on PATH". */
  readonly title: string;
  readonly look: () => Promise<WayOutcome>;
  /** The user asked for this one: when it fails, falling back would hide the mistake. */
  readonly isBinding?: boolean;
}

export interface FailedWay {
  readonly source: BinarySource;
  readonly title: string;
  readonly reason: string;
}

/** Tries the ways in order. Throws one `stack.binary_missing` that names every way with its reason, and how to mend. */
export async function findBinary(what: string, ways: readonly Way[], mend: string): Promise<FoundBinary> {
  const failed: FailedWay[] = [];
  for (const way of ways) {
    const outcome = await lookSafely(way);
    if (outcome.kind === 'found') return { path: outcome.path, version: outcome.version, source: way.source };
    failed.push({ source: way.source, title: way.title, reason: outcome.reason });
    if (way.isBinding === true) break;
  }
  throw binaryMissing(what, failed, mend);
}

async function lookSafely(way: Way): Promise<WayOutcome> {
  try {
    return await way.look();
  } catch (error) {
    return { kind: 'missed', reason: errorText(error) };
  }
}

function binaryMissing(what: string, ways: readonly FailedWay[], mend: string): StackError {
  const lines = ways.map(({ title, reason }) => `  - ${title}: ${reason}`);
  const message = [`${what} was not found. Tried:`, ...lines, mend].join('\n');
  return new StackError('stack.binary_missing', message, { what, ways });
}
