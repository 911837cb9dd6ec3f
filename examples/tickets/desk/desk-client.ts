/**
 * The test's hand on a running desk: faults, settings, and what really happened. Tools never use it; what they see of
 * the desk are its public routes.
 */
import { z } from 'zod';
import { deliverySchema, type Delivery, type Send } from './core/callbacks';
import { faultRuleSchema, type FaultRuleInput } from './core/faults';
import {
  effectSchema,
  jobSchema,
  ruleSchema,
  settingsSchema,
  ticketSchema,
  type Effect,
  type Job,
  type JobOutcome,
  type Rule,
  type Settings,
  type Ticket,
} from './core/model';
import { loggedRequestSchema, type LoggedRequest } from './core/request-log';
import type { callbackRequestSchema, ruleChangeSchema, ticketChangeSchema } from './http/control-routes';

const TIMEOUT_MS = 10_000;

const listedRuleSchema = faultRuleSchema.and(
  z.object({ id: z.number().int(), seen: z.number().int(), fired: z.number().int() }),
);

/** The desk refused a control request, or answered something else than its own shapes. */
export class DeskControlError extends Error {
  override readonly name = 'DeskControlError';
  readonly code = 'desk.control_failed';

  constructor(
    readonly request: string,
    readonly status: number,
    readonly body: string,
  ) {
    super(`${request} answered ${String(status)}: ${body}`);
  }
}

export class DeskControl {
  readonly #url: string;
  readonly #sender: Send;

  /** `url` as the desk printed it; `send` may be `desk.app.request` bound to a desk in this process. */
  constructor(url: string, send: Send = fetch) {
    this.#url = url;
    this.#sender = send;
  }

  /** Every effect there ever was, oldest first: what tests count. */
  async effects(): Promise<readonly Effect[]> {
    return (await this.#get('effects', z.object({ effects: effectSchema.array() }))).effects;
  }

  /** Every request to the public routes, oldest first. */
  async requests(): Promise<readonly LoggedRequest[]> {
    return (await this.#get('requests', z.object({ requests: loggedRequestSchema.array() }))).requests;
  }

  /** Every sending of every callback, in the order of their ends. */
  async callbacks(): Promise<readonly Delivery[]> {
    return (await this.#get('callbacks', z.object({ callbacks: deliverySchema.array() }))).callbacks;
  }

  async jobs(): Promise<readonly Job[]> {
    return (await this.#get('jobs', z.object({ jobs: jobSchema.array() }))).jobs;
  }

  /** The tickets as they are, past every fault and not in the request log. */
  async tickets(): Promise<readonly Ticket[]> {
    return (await this.#get('tickets', z.object({ tickets: ticketSchema.array() }))).tickets;
  }

  /** Resolves to the rule's number. */
  async addFault(rule: FaultRuleInput): Promise<number> {
    return (await this.#post('faults', rule, listedRuleSchema)).id;
  }

  async faults(): Promise<readonly z.infer<typeof listedRuleSchema>[]> {
    return (await this.#get('faults', z.object({ faults: listedRuleSchema.array() }))).faults;
  }

  async clearFaults(): Promise<void> {
    await this.#send('DELETE', 'faults');
  }

  settings(): Promise<Settings> {
    return this.#get('settings', settingsSchema);
  }

  changeSettings(change: Partial<Settings>): Promise<Settings> {
    return this.#post('settings', change, settingsSchema);
  }

  /** Back to the seed: no effects, faults, jobs, requests or recorded replies; settings at their defaults. */
  async reset(): Promise<void> {
    await this.#send('POST', 'reset');
  }

  /** A person edits a ticket, or opens a new one. */
  putTicket(change: z.input<typeof ticketChangeSchema>): Promise<Ticket> {
    return this.#post('tickets', change, ticketSchema);
  }

  putRule(change: z.input<typeof ruleChangeSchema>): Promise<Rule> {
    return this.#post('rules', change, ruleSchema);
  }

  finishJob(id: string, outcome: JobOutcome = 'done'): Promise<Job> {
    return this.#post(`jobs/${encodeURIComponent(id)}/finish`, { outcome }, jobSchema);
  }

  /** Sends a callback by hand, now. Its event id is that of the job's event of that sequence unless another is given. */
  async sendCallback(id: string, callback: z.input<typeof callbackRequestSchema>): Promise<readonly Delivery[]> {
    const schema = z.object({ callbacks: deliverySchema.array() });
    return (await this.#post(`jobs/${encodeURIComponent(id)}/callbacks`, callback, schema)).callbacks;
  }

  async #get<Schema extends z.ZodType>(path: string, schema: Schema): Promise<z.output<Schema>> {
    return schema.parse(JSON.parse(await this.#send('GET', path)));
  }

  async #post<Schema extends z.ZodType>(path: string, body: unknown, schema: Schema): Promise<z.output<Schema>> {
    return schema.parse(JSON.parse(await this.#send('POST', path, body)));
  }

  async #send(method: string, path: string, body?: unknown): Promise<string> {
    const response = await this.#sender(`${this.#url}/_control/${path}`, {
      method,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(body !== undefined && { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new DeskControlError(`${method} ${path}`, response.status, text);
    return text;
  }
}
