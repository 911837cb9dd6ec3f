import { createDesk, type DeskOptions } from '../../../../examples/tickets/desk/desk';
import { DeskControl } from '../../../../examples/tickets/desk/desk-client';
import type { Send } from '../../../../examples/tickets/desk/core/callbacks';
import type { Clock } from '../../../../examples/tickets/desk/core/clock';

export const CALLBACK_SECRET = `whsec_${Buffer.from('the secret of the desk under test').toString('base64')}`;

/** Time that stands still until a test moves it. */
export class ManualClock implements Clock {
  #now = Date.now();
  #tasks: { readonly dueAt: number; readonly task: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  schedule(task: () => void, delayMs: number): () => void {
    const entry = { dueAt: this.#now + delayMs, task };
    this.#tasks.push(entry);
    return () => {
      this.#tasks = this.#tasks.filter((other) => other !== entry);
    };
  }

  /** Runs what becomes due in its order, and what follows from it. */
  async advance(ms: number): Promise<void> {
    const until = this.#now + ms;
    await settle();
    for (let next = this.#takeDue(until); next; next = this.#takeDue(until)) {
      this.#now = Math.max(this.#now, next.dueAt);
      next.task();
      await settle();
    }
    this.#now = until;
  }

  #takeDue(until: number) {
    const due = this.#tasks.filter((entry) => entry.dueAt <= until);
    const first = due.reduce<(typeof due)[number] | undefined>(
      (earliest, entry) => (earliest && earliest.dueAt <= entry.dueAt ? earliest : entry),
      undefined,
    );
    this.#tasks = this.#tasks.filter((entry) => entry !== first);
    return first;
  }
}

/** Lets everything happen that waits for nothing but its turn. */
export const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export interface Sent {
  readonly url: string;
  readonly headers: Headers;
  readonly payload: string;
}

/** A receiver of callbacks in the test: what came, in its order, and what it answers. */
export class Receiver {
  readonly sent: Sent[] = [];
  answer: () => Response | Promise<Response> = () => new Response(null, { status: 204 });

  readonly send: Send = async (url, init) => {
    const payload = await new Response(init.body ?? null).text();
    this.sent.push({ url, headers: new Headers(init.headers), payload });
    return this.answer();
  };

  bodies(): readonly Record<string, unknown>[] {
    return this.sent.map(({ payload }) => parseObject(payload));
  }
}

export function openDesk(options: Partial<DeskOptions> = {}) {
  const clock = new ManualClock();
  const receiver = new Receiver();
  const desk = createDesk({ clock, send: receiver.send, callbackSecret: CALLBACK_SECRET, ...options });
  const request = async (path: string, init?: RequestInit): Promise<Response> => desk.app.request(path, init);
  const post = (path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Response> =>
    request(path, {
      method: 'POST',
      headers: { ...(body !== undefined && { 'Content-Type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const control = new DeskControl('http://desk.test', request);
  return { desk, clock, receiver, request, post, control };
}

/** A reply's body, for matching with `toMatchObject`. */
export const bodyOf = async (response: Response | Promise<Response>): Promise<Record<string, unknown>> =>
  parseObject(await (await response).text());

/** What was answered, in short. */
export async function outcomeOf(response: Promise<Response>): Promise<{ status: number; code?: unknown }> {
  const { status } = await response;
  const { code } = await bodyOf(response);
  return code === undefined ? { status } : { status, code };
}

function parseObject(text: string): Record<string, unknown> {
  return JSON.parse(text) as Record<string, unknown>;
}
