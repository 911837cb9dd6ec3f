import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { OpenEntry } from './book';
import { PING, type ServerEvent } from './events';
import type { Delivery, DeliveryEnd } from './faults/plan-delivery';
import { encodeEvent } from './sse';

export interface DeliveryTarget {
  readonly response: ServerResponse;
  /** Aborts when the client has left or the server closes. */
  readonly gone: AbortSignal;
  readonly entry: OpenEntry;
}

/** Whether the delivery ended as planned, or the client left first; a stalled one ends in no other way. */
export type DeliveryResult = 'delivered' | 'abandoned';

/** Writes the events one by one; resolves when the answer has ended. */
export async function deliverStream(
  delivery: Delivery,
  { response, gone, entry }: DeliveryTarget,
): Promise<DeliveryResult> {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' });
  response.flushHeaders();
  let pinged = false;
  for (const event of delivery.events) {
    await pause(delivery.delayMs(event), gone);
    if (gone.aborted) return 'abandoned';
    await write(response, encodeEvent(event));
    entry.countSent(event);
    if (!pinged && event.name === 'content_block_start') {
      pinged = true;
      await write(response, encodeEvent(PING));
    }
  }
  return finish(delivery.end, { response, gone });
}

async function finish(
  end: DeliveryEnd,
  { response, gone }: Pick<DeliveryTarget, 'response' | 'gone'>,
): Promise<DeliveryResult> {
  if (gone.aborted) return 'abandoned';
  switch (end.kind) {
    case 'end':
      response.end();
      return 'delivered';
    case 'destroy':
      if (end.halfOf !== undefined) await write(response, firstHalf(encodeEvent(end.halfOf)));
      response.destroy();
      return 'delivered';
    case 'hold':
      await hold(response, gone, end.pingEveryMs);
      return 'abandoned';
  }
}

async function hold(response: ServerResponse, gone: AbortSignal, pingEveryMs: number | undefined): Promise<void> {
  if (pingEveryMs === undefined) {
    await untilAborted(gone);
    return;
  }
  for (;;) {
    await pause(pingEveryMs, gone);
    if (gone.aborted) return;
    await write(response, encodeEvent(PING));
  }
}

export interface BodyDelivery {
  readonly body: string;
  readonly delivery: Delivery;
  /** Events of the whole answer: counted at once, for the body is one piece. */
  readonly events: readonly ServerEvent[];
}

/** The answer without streaming: whole, or its first half where the plan breaks off. */
export async function deliverBody(
  { body, delivery, events }: BodyDelivery,
  target: DeliveryTarget,
): Promise<DeliveryResult> {
  const { response, gone, entry } = target;
  const isWhole = delivery.events.length === events.length;
  await pause(sum(delivery.events.map(delivery.delayMs)), gone);
  if (gone.aborted) return 'abandoned';
  response.writeHead(200, { 'content-type': 'application/json' });
  await write(response, isWhole ? body : firstHalf(body));
  delivery.events.forEach(entry.countSent);
  return finish(delivery.end.kind === 'hold' ? { kind: 'hold' } : delivery.end, { response, gone });
}

export async function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => {
      resolve();
    });
  });
}

async function pause(ms: number, gone: AbortSignal): Promise<void> {
  if (ms === 0 || gone.aborted) return;
  await delay(ms, undefined, { signal: gone }).catch(() => undefined);
}

/** Resolves when the bytes are with the kernel, also when the client has left meanwhile. */
async function write(response: ServerResponse, bytes: string): Promise<void> {
  if (response.destroyed) return;
  await new Promise<void>((resolve) => {
    response.once('close', resolve);
    response.write(bytes, () => {
      response.off('close', resolve);
      resolve();
    });
  });
}

function firstHalf(bytes: string): string {
  return bytes.slice(0, Math.floor(bytes.length / 2));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
