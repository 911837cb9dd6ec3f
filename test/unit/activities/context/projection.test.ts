/** R58, R60: whatever a run has been through and wherever its context is cut, the provider takes the request. */
import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import type Anthropic from '@anthropic-ai/sdk';
import { assembleMessages } from '../../../../activities/context/assemble-messages';
import { keepWhole, resultLimitOf, type Chain, type ChainItem } from '../../../../activities/context/chain';
import { extendChain } from '../../../../activities/context/extend-chain';
import type { AdditionParts } from '../../../../activities/context/load-parts';
import { renderAddition } from '../../../../activities/context/render-addition';
import { SentBlocks } from '../../../../testing/model-server/sent-blocks';
import type { NativeBlock } from '../../../../testing/model-server/native-request';
import { judge, request } from '../../testing/model-server/requests';
import { additionOf, HASH, history, type StepParts } from './histories';

const TASK = { type: 'text', text: '<task>\n{"goal":"Reassign T100"}\n</task>' } as const;
const statusOf = (step: number) => ({ type: 'text', text: `<status>\n{"step":${String(step)}}\n</status>` }) as const;
const FRAME_BYTES = 300;
const TOOLS = ['get_ticket', 'reassign_ticket', 'finish', 'ask_user', 'analyse'].map((name) => ({
  name,
  input_schema: { type: 'object' },
}));

interface Shown {
  readonly messages: Anthropic.MessageParam[];
  readonly chain: Chain;
  readonly isRoot: boolean;
}

/** Every step of a history, as a worker would project it; parts stand in for what is stored. */
const projectAll = (steps: readonly StepParts[], maxContextBytes: number): readonly Shown[] => {
  const partsOf = new Map<ChainItem['addition'], AdditionParts>();
  const render = (kept: Omit<ChainItem, 'rendered'>): ChainItem => {
    const parts = partsOf.get(kept.addition);
    if (parts === undefined) throw new Error('every addition has its parts');
    return { ...kept, rendered: renderAddition(parts, resultLimitOf(kept, { maxContextBytes })) };
  };
  let before: { hash: typeof HASH; shrinks: number; chain: Chain } | undefined;
  return steps.map(({ parts, shrinks }, index) => {
    const added = parts.map((each) => {
      const addition = { ...additionOf(each) };
      partsOf.set(addition, each);
      return render(keepWhole(addition, shrinks));
    });
    const isSmaller = before !== undefined && shrinks > before.shrinks;
    const parent =
      before !== undefined && isSmaller
        ? {
            ...before,
            chain: { ...before.chain, items: before.chain.items.map((item) => render({ ...item, shrinks })) },
          }
        : before;
    const { chain, links } = extendChain({ parent, added, shrinks, maxContextBytes, frameBytes: FRAME_BYTES });
    before = { hash: HASH, shrinks, chain };
    const messages = assembleMessages({ task: TASK, chain, tail: [statusOf(index + 1)] });
    return { messages, chain, isRoot: links.parent === undefined };
  });
};

const cutSize = fc.oneof(fc.nat({ max: 4_000 }), fc.nat({ max: 60_000 }), fc.constant(1_000_000));

test('every request of every history is taken by the strict provider, at every cut size', () => {
  fc.assert(
    fc.property(history, cutSize, (steps, maxContextBytes) => {
      const sent = new SentBlocks();
      for (const each of steps.flatMap(({ parts }) => parts)) {
        if (each.kind === 'exchange') sent.remember(parseBlocks(each.candidate.blocks));
      }
      for (const [index, { messages }] of projectAll(steps, maxContextBytes).entries()) {
        expect(judge(request({ messages, tools: TOOLS }), { sent, limits: { contextTokens: Infinity } })).toBe(
          'accepted',
        );
        expect(lastUserText(messages)).toBe(statusOf(index + 1).text);
        expect(messages[0]?.content).toContainEqual(TASK);
      }
    }),
    { numRuns: 150 },
  );
});

const parseBlocks = (blocks: unknown): NativeBlock[] => blocks as NativeBlock[];

const lastUserText = (messages: readonly Anthropic.MessageParam[]): string | undefined => {
  const content = messages.findLast(({ role }) => role === 'user')?.content;
  const block = Array.isArray(content) ? content.at(-1) : undefined;
  return block?.type === 'text' ? block.text : undefined;
};

const PROPERTY = { numRuns: 100 } as const;

const blocksWithoutTail = (messages: readonly Anthropic.MessageParam[]): readonly string[] =>
  messages.flatMap(({ role, content }) =>
    (Array.isArray(content) ? content : [])
      .filter((block) => block.type !== 'text' || !block.text.startsWith('<status>\n{"step"'))
      .map((block) => `${role} ${JSON.stringify(block)}`),
  );

test('what a request shows before its status is shown the same, byte for byte, until a new root is written', () => {
  fc.assert(
    fc.property(history, cutSize, (steps, maxContextBytes) => {
      const shown = projectAll(steps, maxContextBytes);
      for (const [index, later] of shown.entries()) {
        const earlier = shown[index - 1];
        if (earlier === undefined || later.isRoot) continue;
        const before = blocksWithoutTail(earlier.messages);
        expect(blocksWithoutTail(later.messages).slice(0, before.length)).toEqual(before);
      }
    }),
    PROPERTY,
  );
});

test('the same context is projected to the same bytes', () => {
  fc.assert(
    fc.property(history, cutSize, (steps, maxContextBytes) => {
      const [one, other] = [projectAll(steps, maxContextBytes), projectAll(steps, maxContextBytes)];
      expect(JSON.stringify(one.map(({ messages }) => messages))).toBe(
        JSON.stringify(other.map(({ messages }) => messages)),
      );
    }),
    { numRuns: 30 },
  );
});

test('a turn is shown with every block that was received, in order and unchanged, or not at all', () => {
  fc.assert(
    fc.property(history, cutSize, (steps, maxContextBytes) => {
      const received = new Set(
        steps.flatMap(({ parts }) =>
          parts.flatMap((each) =>
            each.kind === 'exchange' ? [JSON.stringify(each.candidate.blocks.filter(isShowable))] : [],
          ),
        ),
      );
      for (const { messages } of projectAll(steps, maxContextBytes)) {
        for (const { role, content } of messages) {
          if (role === 'assistant') expect(received).toContain(JSON.stringify(content));
        }
      }
    }),
    PROPERTY,
  );
});

/** Empty text is refused by the provider and says nothing. */
const isShowable = (block: Anthropic.ContentBlockParam): boolean => block.type !== 'text' || block.text.trim() !== '';

test('a changed task and the newest exchange are never left out, and what is kept beside them has room', () => {
  fc.assert(
    fc.property(history, cutSize, (steps, maxContextBytes) => {
      const said: unknown[] = [];
      let newest: unknown;
      for (const [index, { chain, isRoot }] of projectAll(steps, maxContextBytes).entries()) {
        for (const each of steps[index]?.parts ?? []) {
          if (each.kind === 'message') said.push(each.addition.text);
          if (each.kind === 'exchange') newest = each.candidate;
        }
        const shown = chain.items.map(({ addition }) => addition);
        expect(shown.flatMap((addition) => (addition.kind === 'message' ? [addition.text] : []))).toEqual(said);
        if (newest !== undefined) expect(shown.some(({ kind }) => kind === 'exchange')).toBe(true);
        if (isRoot) expect(freeBytes(chain)).toBeLessThanOrEqual(maxContextBytes);
      }
    }),
    PROPERTY,
  );
});

/** Of what a root was free to leave out. */
const freeBytes = ({ items }: Chain): number => {
  const newest = items.findLastIndex(({ addition }) => addition.kind === 'exchange');
  return items
    .filter(({ addition }, index) => index < newest && addition.kind !== 'message')
    .reduce((sum, { isDigested, rendered }) => sum + (isDigested ? rendered.digested : rendered.whole).bytes, 0);
};

test('a run of any length reads no more than a bounded number of manifests', () => {
  const steps = Array.from({ length: 500 }, (): StepParts => ({ parts: [], shrinks: 0 }));
  const depths = projectAll(steps, 1_000_000).map(({ chain }) => chain.depth);
  expect(Math.max(...depths)).toBe(64);
});
