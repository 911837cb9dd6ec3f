/** Random histories of a run, as the parts that its additions refer to. */
import * as fc from 'fast-check';
import type Anthropic from '@anthropic-ai/sdk';
import type { AdditionParts, CallPart, ExchangeParts, ResponsePart } from '../../../../activities/context/load-parts';
import { digestText } from '../../../../activities/context/digest';
import type { CandidateArtifact } from '../../../../activities/model/candidate';
import { redactedDataFor, signThinking } from '../../../../testing/model-server/sent-blocks';
import { ERROR_CODES } from '../../../../workflows/contract/errors';
import {
  evidenceIdOf,
  parseArtifactHash,
  parseRunId,
  parseTenantId,
  parseWaitId,
} from '../../../../workflows/contract/ids';
import type { JsonObject } from '../../../../workflows/contract/json';
import type { Addition, CallEnd, Finding } from '../../../../workflows/contract/records';

export const RUN = parseRunId('run_4f3c2a');
export const REF = { tenant: parseTenantId('acme'), run: RUN };
export const WAIT = parseWaitId('wait_4f3c2a_12_1');
export const HASH = parseArtifactHash('ab'.repeat(32));

type Block = Anthropic.ContentBlockParam;

const usage = {
  inputTokens: 1,
  outputTokens: 1,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  costMicros: 0,
  isEstimate: false,
};

export const candidateOf = (blocks: readonly Block[], stopReason = 'tool_use'): CandidateArtifact => ({
  schemaVersion: 1,
  run: RUN,
  step: 1,
  attempt: 1,
  context: HASH,
  stopReason,
  isComplete: true,
  blocks,
  calls: [],
  usage,
  model: 'claude-sonnet-5',
});

export const responsePart = (response?: JsonObject): ResponsePart => ({
  wait: {
    id: WAIT,
    ref: REF,
    kind: 'question',
    seq: 12,
    planVersion: 1,
    plan: HASH,
    responseSchema: {},
    expiresInMs: 1_000,
    state: response === undefined ? 'EXPIRED' : 'CONSUMED',
    openedAt: 0,
    expiresAt: 1_000,
    ...(response === undefined ? {} : { response }),
  },
});

export interface StepParts {
  readonly parts: readonly AdditionParts[];
  readonly shrinks: number;
}

/** Text with what breaks naive code: halves of pairs excluded, everything else allowed. */
const anyText = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc.constantFrom('</result>\n<status>', '"', '\u2028', '\ufeff', '😀'.repeat(20), 'x'.repeat(3_000), '   '),
);

const thought = anyText.map((text): Block => ({ type: 'thinking', thinking: text, signature: signThinking(text) }));
const redacted = fc.nat().map((label): Block => ({ type: 'redacted_thinking', data: redactedDataFor(String(label)) }));

/** Unique but for a chance that no run of this test will see. */
const toolUseId = fc.string({
  unit: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', '2', '3', '4', '5', '6', '7', '8', '9'),
  minLength: 20,
  maxLength: 20,
});

const toolUse = fc.record({
  id: toolUseId,
  name: fc.constantFrom('get_ticket', 'reassign_ticket', 'finish', 'ask_user', 'analyse'),
  input: fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 }),
});

const output = fc.oneof(
  fc
    .jsonValue({ maxDepth: 2 })
    .map((value) => ({ bytes: Buffer.from(JSON.stringify(value)), mediaType: 'application/json' })),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => ({ bytes, mediaType: 'application/octet-stream' })),
  fc.nat({ max: 20_000 }).map((size) => ({ bytes: Buffer.from('é\n'.repeat(size)), mediaType: 'text/plain' })),
);

type Kind = 'success' | 'failure' | 'denied' | 'bare';

const callPart = (ordinal: number): fc.Arbitrary<CallPart> =>
  fc
    .record({
      kind: fc.constantFrom<Kind>('success', 'failure', 'denied', 'bare'),
      code: fc.constantFrom(...ERROR_CODES),
      output,
      message: anyText,
    })
    .map(({ kind, code, output: content, message }) => {
      const evidence = evidenceIdOf(1, ordinal);
      const end: CallEnd = kind === 'success' ? { ordinal, evidence } : { ordinal, code };
      if (kind === 'success' && content.bytes.length > 8_192) {
        const text = Buffer.from(content.bytes).toString('utf8');
        return { end, digest: digestText(text, { limitBytes: 8_192, words: ['é'] }) };
      }
      if (kind === 'success') return { end, output: content };
      const failure = { code, message, confirmed: { message }, evidence: [], recoveries: ['read it again'] };
      if (kind === 'failure') return { end, failure };
      return kind === 'denied' ? { end, response: responsePart({ verdict: 'deny', reason: message }) } : { end };
    });

const finding = (count: number): fc.Arbitrary<Finding> =>
  fc.record({ message: anyText, ordinal: fc.nat({ max: count }) }).map(({ message, ordinal }) => ({
    schemaVersion: 1,
    code: 'candidate.invalid_argument',
    message,
    ...(ordinal === 0 ? {} : { calls: [{ ordinal, code: 'INVALID_ARGUMENT' as const, message }] }),
  }));

const SAME_ID = { id: 'toolu_same' };

/** Every way in which a candidate can have ended. */
const exchange: fc.Arbitrary<ExchangeParts> = fc
  .record({
    thoughts: fc.array(fc.oneof(thought, redacted), { maxLength: 2 }),
    text: fc.option(anyText, { nil: undefined }),
    uses: fc.array(toolUse, { maxLength: 5 }),
    how: fc.constantFrom(
      'called',
      'refused',
      'answered',
      'superseded',
      'paused',
      'repeatsId',
      'repeatsWithin',
      'nothing',
    ),
  })
  .chain(({ thoughts, text, uses, how }) =>
    fc
      .record({ calls: fc.tuple(...uses.map((_, index) => callPart(index + 1))), finding: finding(uses.length) })
      .map(({ calls, finding: found }): ExchangeParts => {
        const blocks: readonly Block[] = [
          // A provider takes a paused turn and what goes on from it for one, whose thinking was sent in two answers.
          ...(how === 'paused' ? [] : thoughts),
          ...(text === undefined ? [] : [{ type: 'text' as const, text }]),
          ...(how === 'paused'
            ? []
            : uses.map((use, index): Block => ({
                type: 'tool_use',
                ...use,
                ...(how === 'repeatsWithin' || (how === 'repeatsId' && index === 0) ? SAME_ID : {}),
              }))),
        ];
        const shown = how === 'nothing' ? [] : blocks;
        return {
          kind: 'exchange',
          addition: { kind: 'exchange', step: 1, candidate: HASH, calls: [] },
          candidate: candidateOf(shown, how === 'paused' ? 'pause_turn' : 'tool_use'),
          calls: how === 'called' || how.startsWith('repeats') ? calls : [],
          ...(how === 'refused' ? { finding: found } : {}),
          ...(how === 'answered' ? { response: responsePart({ choice: 0 }) } : {}),
        };
      }),
  );

const other: fc.Arbitrary<AdditionParts> = fc.oneof(
  fc.constant<AdditionParts>({ kind: 'response', response: responsePart({ yes: false }) }),
  fc.constant<AdditionParts>({ kind: 'response', response: responsePart() }),
  finding(0).map((found): AdditionParts => ({ kind: 'finding', finding: found })),
  anyText.map((text): AdditionParts => ({ kind: 'message', addition: { kind: 'message', message: 'm1', text } })),
  fc.constant<AdditionParts>({
    kind: 'correction',
    addition: { kind: 'correction', diagnosis: { rule: 'noProgress', steps: [1, 2], what: 'no new evidence' } },
  }),
);

const step: fc.Arbitrary<StepParts> = fc.record({
  parts: fc
    .tuple(fc.option(exchange, { nil: undefined, freq: 6 }), fc.array(other, { maxLength: 1 }))
    .map(([first, rest]) => (first === undefined ? rest : [first, ...rest])),
  shrinks: fc.constantFrom(0, 0, 0, 0, 1),
});

export const history: fc.Arbitrary<readonly StepParts[]> = fc.array(step, { minLength: 1, maxLength: 25 });

export const additionOf = (parts: AdditionParts): Addition => {
  switch (parts.kind) {
    case 'exchange':
    case 'correction':
    case 'message':
      return parts.addition;
    case 'response':
      return { kind: 'response', wait: WAIT };
    case 'finding':
      return { kind: 'finding', finding: HASH };
  }
};
