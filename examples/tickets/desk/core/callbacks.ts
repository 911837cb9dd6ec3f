/**
 * Callbacks about jobs, signed as Standard Webhooks over the exact bytes sent. Each event is sent on its own and retried
 * with back-off, so a receiver may see events twice and out of order, as with any real sender.
 */
import { Webhook } from 'standardwebhooks';
import { z } from 'zod';
import type { Clock, Scheduler } from './clock';
import {
  jobEventTypeSchema,
  jobIdSchema,
  type CallbackMode,
  type Effect,
  type JobEventType,
  type JobId,
  type Settings,
} from './model';

/** The body of a callback. */
export interface CallbackBody {
  readonly eventId: string;
  readonly job: JobId;
  readonly key: string | null;
  readonly type: JobEventType;
  readonly sequence: number;
  readonly at: string;
  readonly effect?: Effect;
}

/** How a request leaves: the global `fetch`, or a receiver in the same process. */
export type Send = (url: string, init: RequestInit) => Promise<Response>;

/** `expired` carries a true signature from ten minutes ago; `forged` one made with another secret. */
export const signingSchema = z.enum(['valid', 'forged', 'expired', 'none']);
export type Signing = z.infer<typeof signingSchema>;

/** One sending of one callback, as the desk remembers it: with the receiver's status, or why there was none. */
export const deliverySchema = z
  .object({
    eventId: z.string(),
    job: jobIdSchema,
    type: jobEventTypeSchema,
    url: z.string(),
    signing: signingSchema,
    attempt: z.number().int(),
    at: z.string(),
    status: z.number().int().optional(),
    error: z.string().optional(),
  })
  .readonly();
export type Delivery = z.infer<typeof deliverySchema>;

export interface CallbackSenderDependencies {
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly settings: () => Settings;
  readonly send: Send;
  /** Without one nothing can be signed: the routes refuse a `Callback-Url`. */
  readonly signer: Webhook | undefined;
}

const EXPIRED_AGE_MS = 10 * 60_000;
const forger = new Webhook(Buffer.from('a secret that the receiver does not know').toString('base64'));
const MAX_DELIVERIES = 10_000;

export class CallbackSender {
  readonly #deps: CallbackSenderDependencies;
  #deliveries: Delivery[] = [];

  constructor(deps: CallbackSenderDependencies) {
    this.#deps = deps;
  }

  get canSign(): boolean {
    return this.#deps.signer !== undefined;
  }

  get deliveries(): readonly Delivery[] {
    return this.#deliveries;
  }

  clear(): void {
    this.#deliveries = [];
  }

  /** Sends as the mode says. Resolves when nothing more is owed: delivered, given up, or never to be sent. */
  async deliver(url: string, body: CallbackBody, mode: CallbackMode): Promise<void> {
    switch (mode.when) {
      case 'never':
        return;
      case 'forged':
        await this.sendOnce(url, body, { signing: 'forged' });
        return;
      case 'twice':
        await Promise.all(Array.from({ length: mode.copies }, () => this.#sendUntilTaken(url, body)));
        return;
      case 'late':
        await this.#deps.scheduler.sleep(mode.delayMs);
        await this.#sendUntilTaken(url, body);
        return;
      case 'normal':
      case 'early':
        await this.#sendUntilTaken(url, body);
        return;
    }
  }

  async sendOnce(
    url: string,
    body: CallbackBody,
    options: { readonly signing: Signing; readonly attempt?: number },
  ): Promise<Delivery> {
    const { clock, scheduler } = this.#deps;
    const { signing, attempt = 1 } = options;
    const { eventId, job, type } = body;
    const { epoch } = scheduler;
    const outcome = await this.#post(url, body, signing);
    scheduler.requireEpoch(epoch);
    const at = new Date(clock.now()).toISOString();
    const delivery: Delivery = { eventId, job, type, url, signing, attempt, at, ...outcome };
    this.#deliveries = [...this.#deliveries, delivery].slice(-MAX_DELIVERIES);
    return delivery;
  }

  async #sendUntilTaken(url: string, body: CallbackBody): Promise<void> {
    const { scheduler, settings } = this.#deps;
    const { callbackAttempts, callbackBackoffMs } = settings();
    for (let attempt = 1; attempt <= callbackAttempts; attempt += 1) {
      const { status } = await this.sendOnce(url, body, { signing: 'valid', attempt });
      if (status !== undefined && status >= 200 && status < 300) return;
      if (attempt < callbackAttempts) await scheduler.sleep(callbackBackoffMs * 2 ** (attempt - 1));
    }
  }

  async #post(url: string, body: CallbackBody, signing: Signing): Promise<{ status: number } | { error: string }> {
    const payload = JSON.stringify(body);
    const signature = this.#sign(body.eventId, payload, signing);
    try {
      const response = await this.#deps.send(url, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...signature },
        body: payload,
        redirect: 'manual',
        signal: AbortSignal.timeout(this.#deps.settings().callbackTimeoutMs),
      });
      await response.body?.cancel();
      return { status: response.status };
    } catch (error) {
      // Whatever the reason, the receiver did not say that it has the event.
      return { error: String(error instanceof Error && error.cause !== undefined ? error.cause : error) };
    }
  }

  #sign(eventId: string, payload: string, signing: Signing): Readonly<Record<string, string>> {
    if (signing === 'none') return {};
    const ageMs = signing === 'expired' ? EXPIRED_AGE_MS : 0;
    const signedAt = new Date(this.#deps.clock.now() - ageMs);
    const signer = signing === 'forged' ? forger : this.#deps.signer;
    if (!signer) throw new Error('a callback is to be signed and there is no secret');
    return {
      'webhook-id': eventId,
      'webhook-timestamp': String(Math.floor(signedAt.getTime() / 1000)),
      'webhook-signature': signer.sign(eventId, signedAt, payload),
    };
  }
}
