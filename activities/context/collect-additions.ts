/** What a step adds to its parent's context, from the machine's input and the stored rows. */
import type { CompiledAgent } from '../../definition/registry';
import type { OperationRow } from '../../store/rows';
import { coordinatesOf } from '../../workflows/contract/ids';
import type { Json, JsonObject } from '../../workflows/contract/json';
import type { Addition, CallEnd, Gap, RunRef } from '../../workflows/contract/records';
import type { EndedCall, StepInput } from '../../workflows/machine/effects';
import type { ActivityDeps } from '../deps';
import { MAX_RESULT_BYTES } from './chain';
import { decodeText, digestText, ownDigest, type ResultDigest } from './digest';
import { readContent, type Content } from './read-artifact';

export interface AdditionsInput {
  readonly ref: RunRef;
  readonly input: StepInput;
  /** The step whose candidate has ended: that of the parent's context. */
  readonly exchangeStep: number;
  readonly operations: readonly OperationRow[];
  readonly agent: CompiledAgent | undefined;
  /** Open now: what the digest of a large result is to keep of it. */
  readonly gaps: readonly Gap[];
  /** Accepted since the parent, in order. */
  readonly messages: readonly Message[];
}

interface Message {
  readonly id: string;
  readonly kind: string;
  readonly body: JsonObject;
}

type Store = Pick<ActivityDeps['store'], 'artifacts' | 'operations' | 'waits'>;

export const collectAdditions = async (store: Store, about: AdditionsInput): Promise<readonly Addition[]> => {
  const { candidate, finding, waits, correction } = about.input;
  const calls = await Promise.all(about.input.ended.map((ended) => toCallEnd(store, about, ended)));
  // A candidate that was no call and no fault was a question, or an answer for a person to accept.
  const isAnswered = candidate !== undefined && calls.length === 0 && finding === undefined;
  const answer = isAnswered ? waits[0] : undefined;
  return [
    ...(candidate === undefined
      ? []
      : [
          {
            kind: 'exchange' as const,
            step: about.exchangeStep,
            candidate,
            calls,
            ...(finding === undefined ? {} : { finding }),
            ...(answer === undefined ? {} : { wait: answer }),
          },
        ]),
    ...(candidate === undefined && finding !== undefined ? [{ kind: 'finding' as const, finding }] : []),
    ...waits.filter((wait) => wait !== answer).map((wait) => ({ kind: 'response' as const, wait })),
    ...(correction === undefined ? [] : [{ kind: 'correction' as const, diagnosis: correction }]),
    ...about.messages.map(toMessage),
  ];
};

const toMessage = ({ id, kind, body }: Message): Addition => ({
  kind: 'message',
  message: id,
  text: textOf(kind, body),
});

/** An amendment's own words; of anything else what it is and all that it says. */
const textOf = (kind: string, body: JsonObject): string => {
  const { text } = body;
  return kind === 'amend' && typeof text === 'string' ? text : `${kind}: ${JSON.stringify(body)}`;
};

/** A person decided it, or should have: what they said belongs to its result, unless its failure says so already. */
const DECIDED_BY_PERSON: readonly (string | undefined)[] = ['DENIED', 'EXPIRED'];
const NEWEST_WAITS = 50;

const toCallEnd = async (store: Store, about: AdditionsInput, { ordinal, code }: EndedCall): Promise<CallEnd> => {
  const { ref, exchangeStep, operations } = about;
  const row = operations.find((each) => each.step === exchangeStep && each.ordinal === ordinal);
  if (row === undefined) return { ordinal, ...(code === undefined ? {} : { code }) };
  const [source, wait] = await Promise.all([
    sourceOf(store, about, row),
    row.editedBy ??
      (row.failure === undefined && DECIDED_BY_PERSON.includes(code) ? findWait(store, ref, row) : undefined),
  ]);
  const evidence = row.evidence ?? source.evidence;
  const output = source.output ?? (source.state === 'SUCCEEDED' ? source.raw : undefined);
  const digest = output === undefined ? undefined : await digestOf(store, about, { tool: row.tool, output });
  return {
    ordinal,
    ...(code === undefined ? {} : { code }),
    ...(evidence === undefined ? {} : { evidence }),
    ...(output === undefined ? {} : { output }),
    ...(row.failure === undefined ? {} : { failure: row.failure }),
    ...(digest === undefined ? {} : { digest }),
    ...(wait === undefined ? {} : { wait }),
  };
};

/** The operation whose result counts for this call: its own, or the one that had done it already. */
const sourceOf = async (
  store: Store,
  { ref, operations }: AdditionsInput,
  row: OperationRow,
): Promise<OperationRow> => {
  const { equivalent } = row;
  if (equivalent === undefined || row.output !== undefined) return row;
  const { run } = coordinatesOf(equivalent);
  const own = operations.find(({ id }) => id === equivalent);
  return own ?? (await store.operations.get({ ...ref, run }, equivalent)) ?? row;
};

const findWait = async (store: Store, { tenant, run }: RunRef, row: OperationRow): Promise<CallEnd['wait']> => {
  const waits = await store.waits.list(tenant, { run, limit: NEWEST_WAITS });
  return waits.find(({ operation, state }) => operation === row.id && (state === 'CONSUMED' || state === 'EXPIRED'))
    ?.id;
};

type Output = NonNullable<CallEnd['output']>;

/** Stored once, so that a result that is too large to be shown is not read for every request. */
const digestOf = async (
  store: Store,
  { ref: { tenant }, agent, gaps }: AdditionsInput,
  { tool, output }: { readonly tool: string; readonly output: Output },
): Promise<CallEnd['digest']> => {
  const content = await readContent(store, { tenant, hash: output });
  if (content.bytes.length <= MAX_RESULT_BYTES) return undefined;
  return store.artifacts.putJson(tenant, makeDigest(content, agent?.tools.get(tool)?.tool.digest, gaps));
};

type OwnDigest = (output: Json) => string;

const makeDigest = (content: Content, own: OwnDigest | undefined, gaps: readonly Gap[]): ResultDigest => {
  const text = decodeText(content.bytes);
  const told = own === undefined ? undefined : tryOwn(own, text);
  if (told !== undefined) return ownDigest(told, { ofText: text, limitBytes: MAX_RESULT_BYTES });
  return digestText(text, { limitBytes: MAX_RESULT_BYTES, words: gaps.flatMap(wordsOf) });
};

/** A tool whose digest fails is shown by the runtime's. */
const tryOwn = (own: OwnDigest, text: string): string | undefined => {
  try {
    const output: Json = parseJson(text);
    return own(output);
  } catch {
    return undefined;
  }
};

const parseJson = (text: string): Json => JSON.parse(text) as Json;

/** `ticket:T100.team` is looked for as `T100` and `team`. */
const wordsOf = ({ needs = [], candidates = [] }: Gap): readonly string[] =>
  [...needs, ...candidates].flatMap((name) => {
    const [, id = '', field = ''] = /^[^:]*:(.*?)(?:\.([^.]*))?$/s.exec(name) ?? [];
    return [id, field];
  });
