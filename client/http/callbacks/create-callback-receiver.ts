/**
 * Where far sides report about operations: `POST /v1/callbacks/{operation}`.
 *
 *   1. Whoever has no secret learns nothing and changes nothing, save a bounded number of lines in the journal.
 *   2. 2xx is answered once the report is stored, with the signal that it owes; whatever dies afterwards, it is read.
 *   3. Signatures are checked before anything is counted: however many forged ones come, they take nothing of what those
 *      who have a secret may send.
 *   4. What it says is for an activity of the run to read. Nothing is settled here.
 */
import { Hono, type Context } from 'hono';
import type { Logger } from 'pino';
import { StoreUnavailable } from '../../../store/errors';
import type { Store } from '../../../store/store';
import { InvalidId, parseOperationId, type OperationId } from '../../../workflows/contract/ids';
import type { RunRef } from '../../../workflows/contract/records';
import { MAX_BODY_BYTES, toProblem, type CallbackProblemCode } from './callback-problem';
import { createRateLimit, type RateLimit } from '../rate-limit';
import type { ServiceLimits } from '../service';
import { readBody } from './read-body';
import { sourceOf } from './source-of';
import { createVerifier, type Verifier, type WebhookHeaders } from './verify-webhook';

export interface CallbackReceiverOptions {
  readonly store: Pick<Store, 'inbox' | 'artifacts'>;
  /** The keys themselves, decoded; at least one. */
  readonly secrets: readonly Uint8Array[];
  readonly log: Logger;
  /** Wakes the run at once. It may fail: the signal is owed until the run has read the report. */
  readonly signal: (ref: RunRef, operation: OperationId) => Promise<void>;
  readonly limits: Pick<ServiceLimits, 'callbacksPerMinute' | 'forgedCallbacksPerMinute'>;
  readonly now?: () => number;
}

interface Receiver extends CallbackReceiverOptions {
  readonly verifier: Verifier;
  /** By operation: a sender that repeats itself without end. */
  readonly signed: RateLimit;
  /** By source: whoever has no secret. Over it nothing of the database is asked any more. */
  readonly forged: RateLimit;
}

const PATH = '/v1/callbacks/:operation';

export const createCallbackReceiver = (options: CallbackReceiverOptions): Hono => {
  if (options.secrets.length === 0) throw new RangeError('a receiver of callbacks has at least one secret');
  const { callbacksPerMinute, forgedCallbacksPerMinute } = options.limits;
  const receiver: Receiver = {
    ...options,
    verifier: createVerifier(options.secrets),
    signed: createRateLimit(callbacksPerMinute),
    forged: createRateLimit(forgedCallbacksPerMinute),
  };
  const app = new Hono();
  app.post(PATH, (c) => answer(receiver, c, c.req.param('operation')));
  app.all(PATH, () => toProblem('callback.method'));
  return app;
};

const answer = async (receiver: Receiver, c: Context, name: string): Promise<Response> => {
  try {
    const refusal = await take(receiver, c, name);
    return refusal === undefined ? new Response(null, { status: 204 }) : toProblem(refusal.code, refusal.retryAfter);
  } catch (error) {
    const isAway = error instanceof StoreUnavailable;
    receiver.log[isAway ? 'warn' : 'error']({ err: error, operation: name }, 'a callback could not be stored');
    return toProblem(isAway ? 'callback.unavailable' : 'callback.internal');
  }
};

interface Refusal {
  readonly code: CallbackProblemCode;
  readonly retryAfter?: number;
}

/** Why it was not taken; undefined where it was. What costs nothing is checked first, and nothing is read for a wrong form. */
const take = async (receiver: Receiver, c: Context, name: string): Promise<Refusal | undefined> => {
  const request = c.req.raw;
  const operation = parseName(name);
  if (operation === undefined) return { code: 'callback.operation_unknown' };
  if (!isPlainJson(request.headers)) return { code: 'callback.media_type' };
  const body = await readBody(request, MAX_BODY_BYTES);
  if (body.kind === 'tooLarge') return { code: 'callback.too_large' };
  if (body.kind === 'cut') return { code: 'callback.body_cut' };
  if (body.bytes.byteLength === 0) return { code: 'callback.body_empty' };
  const { verifier, signed, forged, now = Date.now } = receiver;
  const verdict = verifier.verify(headersOf(request.headers), body.bytes, now());
  const retryAfter = verdict.kind === 'valid' ? await signed.take(operation) : await forged.take(sourceOf(c));
  if (retryAfter !== undefined) return { code: 'rate.limited', retryAfter };
  if (verdict.kind === 'refused') {
    await noteRefusal(receiver, { operation, eventId: verdict.id ?? '', reason: verdict.code });
    return { code: verdict.code };
  }
  const code = await store(receiver, { operation, eventId: verdict.id, bytes: body.bytes });
  return code && { code };
};

const parseName = (name: string): OperationId | undefined => {
  try {
    return parseOperationId(name);
  } catch (error) {
    if (error instanceof InvalidId) return undefined;
    throw error;
  }
};

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;\s*charset="?utf-8"?\s*)?$/i;

const isPlainJson = (headers: Headers): boolean => {
  const encoding = headers.get('Content-Encoding')?.trim().toLowerCase() ?? 'identity';
  return encoding === 'identity' && JSON_TYPE.test(headers.get('Content-Type')?.trim() ?? '');
};

const headersOf = (headers: Headers): WebhookHeaders => ({
  id: headers.get('webhook-id') ?? undefined,
  timestamp: headers.get('webhook-timestamp') ?? undefined,
  signature: headers.get('webhook-signature') ?? undefined,
});

interface Refused {
  readonly operation: OperationId;
  readonly eventId: string;
  readonly reason: string;
}

/** For whoever looks at the run later; whoever sent it gets the same answer whether the operation exists or not. */
const noteRefusal = async ({ store, log }: Receiver, refused: Refused): Promise<void> => {
  const { operation, reason } = refused;
  log.warn({ operation, reason }, 'a callback was refused');
  try {
    const ref = await store.inbox.runOf(operation);
    if (ref !== undefined) await store.inbox.refuse(ref, refused);
  } catch (error) {
    log.warn({ err: error, operation }, 'a refused callback could not be noted');
  }
};

interface Report {
  readonly operation: OperationId;
  readonly eventId: string;
  readonly bytes: Uint8Array;
}

const store = async (
  { store: { inbox, artifacts }, log, signal }: Receiver,
  { operation, eventId, bytes }: Report,
): Promise<'callback.operation_unknown' | undefined> => {
  const ref = await inbox.runOf(operation);
  if (ref === undefined) return 'callback.operation_unknown';
  const body = await artifacts.put(ref.tenant, { bytes, mediaType: 'application/json' });
  const received = await inbox.receive(ref, { operation, eventId, body });
  if (received === undefined) return 'callback.operation_unknown';
  const { isNew, wake } = received;
  log.info({ run: ref.run, operation, event: eventId, isNew, wake }, 'a callback was stored');
  // Not waited for: it is stored, and a relay repeats the signal until it has been read.
  if (wake === 'toolEvent') {
    signal(ref, operation).catch((error: unknown) => {
      log.warn({ err: error, run: ref.run, operation }, 'a run could not be woken at once');
    });
  }
  return undefined;
};
