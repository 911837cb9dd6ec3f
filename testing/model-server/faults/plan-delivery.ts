import type { Answer } from '../answer';
import type { ServerEvent } from '../events';
import type { Fault, StreamPoint } from './fault';

/** How a delivery ends once its events are out. */
export type DeliveryEnd =
  | { readonly kind: 'end' }
  /** Half of `halfOf` is written first, if given. */
  | { readonly kind: 'destroy'; readonly halfOf?: ServerEvent }
  /** Nothing more is said, apart from pings if asked for, until the client leaves. */
  | { readonly kind: 'hold'; readonly pingEveryMs?: number };

export interface Delivery {
  readonly events: readonly ServerEvent[];
  readonly end: DeliveryEnd;
  readonly delayMs: (event: ServerEvent) => number;
}

/** The events that will be sent and how the stream ends: a pure function of answer, events and fault. */
export function planDelivery(answer: Answer, events: readonly ServerEvent[], fault: Fault | undefined): Delivery {
  const delayMs = (event: ServerEvent) => (event.name === 'content_block_delta' ? answer.chunkDelayMs : 0);
  const upTo = (at: StreamPoint) => events.slice(0, eventsBefore(at, answer, events));
  switch (fault?.kind) {
    case 'error-mid-stream': {
      const error = { type: 'error', error: { type: fault.errorType, message: fault.message } };
      return {
        events: [...upTo(fault.at), { name: 'error', data: error, outputBytes: 0 }],
        end: { kind: 'end' },
        delayMs,
      };
    }
    case 'cut': {
      const sent = upTo(fault.at);
      const next = events[sent.length];
      const halfOf = fault.midEvent && next !== undefined ? { halfOf: next } : {};
      return { events: sent, end: { kind: 'destroy', ...halfOf }, delayMs };
    }
    case 'clean-eof':
      return { events: upTo(fault.at), end: { kind: 'end' }, delayMs };
    case 'stall': {
      const pings = fault.pingEveryMs === undefined ? {} : { pingEveryMs: fault.pingEveryMs };
      return { events: upTo(fault.at), end: { kind: 'hold', ...pings }, delayMs };
    }
    case 'slow':
      return { events, end: { kind: 'end' }, delayMs: () => fault.delayMsPerEvent };
    default:
      return { events, end: { kind: 'end' }, delayMs };
  }
}

/** Place in the stream → number of events before it. */
function eventsBefore(at: StreamPoint, answer: Answer, events: readonly ServerEvent[]): number {
  if ('afterEvents' in at) return at.afterEvents;
  const indexOf = (name: string) => events.findIndex((event) => event.name === name);
  if (at.point === 'before-message-delta') return indexOf('message_delta');
  if (at.point === 'before-message-stop') return indexOf('message_stop');
  const block = at.block ?? defaultBlock(answer);
  const start = events.findIndex((event) => event.block === block);
  if (start === -1) throw new RangeError(`the answer has no block ${block} to fail in`);
  const stop = events.findIndex((event) => event.block === block && event.name === 'content_block_stop');
  const placeByPoint = {
    'after-block-start': start + 1,
    'mid-block': start + 1 + Math.ceil((stop - start - 1) / 2),
    'before-block-stop': stop,
  };
  return placeByPoint[at.point];
}

function defaultBlock(answer: Answer): number {
  const toolUse = answer.blocks.map((block) => block.type).lastIndexOf('tool_use');
  return toolUse === -1 ? answer.blocks.length - 1 : toolUse;
}
