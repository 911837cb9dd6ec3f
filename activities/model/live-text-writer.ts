/**
 * Brings live text to the store, for viewers in other processes. Pieces are gathered for a moment and written in order; what
 * cannot be written is dropped, since the candidate holds all of it.
 *
 *   1. A first attempt that says nothing writes nothing. A further one voids at once what an earlier one has shown.
 *   2. At most one write of an attempt is under way: pieces never overtake each other.
 *   3. A first attempt that ends before its first pieces are gathered writes nothing: its candidate is there already.
 */
import type { Logger } from 'pino';
import type { LiveTextStore } from '../../store/reader';
import type { LiveText, OnText } from './live-text';

export interface LiveTextWriterOptions {
  readonly store: Pick<LiveTextStore, 'add' | 'forget'>;
  readonly log: Logger;
  /** How long pieces are gathered. Default 100 ms. */
  readonly gatherMs?: number;
}

const GATHER_MS = 100;
/** More than a page shows; what comes while the store is away is not kept beyond it. */
const MAX_PENDING_CHARACTERS = 60_000;

export const createLiveTextWriter = (options: LiveTextWriterOptions): OnText => {
  const speaking = new Map<string, Speaker>();
  let sweptAt = Date.now();
  return (text) => {
    const key = `${text.tenant} ${text.run}`;
    if (text.kind === 'reset') {
      if (Date.now() - sweptAt > SWEEP_EVERY_MS) {
        sweptAt = Date.now();
        void sweep(options);
      }
      const speaker = new Speaker(options, text, () => {
        if (speaking.get(key) === speaker) speaking.delete(key);
      });
      speaking.set(key, speaker);
      if (text.attempt > 1) speaker.say('');
      return;
    }
    if (text.kind === 'ended') {
      if (text.attempt === 1) speaking.get(key)?.fallSilent(text);
      return;
    }
    const speaker = speaking.get(key) ?? new Speaker(options, text, () => undefined);
    speaking.set(key, speaker);
    speaker.say(text.text);
  };
};

const SWEEP_EVERY_MS = 600_000;
const KEPT_MS = 24 * 3_600_000;

const sweep = async ({ store, log }: LiveTextWriterOptions): Promise<void> => {
  try {
    await store.forget(KEPT_MS);
  } catch (error) {
    log.debug({ err: error }, 'old live text could not be forgotten');
  }
};

/** How long a speaker that says nothing is remembered. */
const SILENCE_MS = 60_000;

class Speaker {
  private pending = '';
  private hasPending = false;
  private isWriting = false;
  private hasWritten = false;
  private timer: NodeJS.Timeout;

  constructor(
    private readonly options: LiveTextWriterOptions,
    private readonly of: LiveText,
    private readonly onSilence: () => void,
  ) {
    this.timer = setTimeout(onSilence, SILENCE_MS).unref();
  }

  say(text: string): void {
    if (this.pending.length + text.length > MAX_PENDING_CHARACTERS) return;
    this.pending += text;
    if (this.hasPending) return;
    this.hasPending = true;
    if (!this.isWriting) this.writeSoon();
  }

  /** Of an attempt that nobody has seen anything of. */
  fallSilent({ step, attempt }: LiveText): void {
    if (this.hasWritten || step !== this.of.step || attempt !== this.of.attempt) return;
    clearTimeout(this.timer);
    this.onSilence();
  }

  private writeSoon(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.write(), this.options.gatherMs ?? GATHER_MS).unref();
  }

  private async write(): Promise<void> {
    const { store, log } = this.options;
    const { tenant, run, step, attempt } = this.of;
    const text = this.pending;
    this.pending = '';
    this.hasPending = false;
    this.isWriting = true;
    this.hasWritten = true;
    try {
      await store.add({ tenant, run }, { step, attempt, texts: text === '' ? [] : [text] });
    } catch (error) {
      log.debug({ err: error, run }, 'live text could not be written');
    } finally {
      this.isWriting = false;
      this.goOn();
    }
  }

  /** More may have been said while the last pieces were written. */
  private goOn(): void {
    if (this.hasPending) this.writeSoon();
    else this.timer = setTimeout(this.onSilence, SILENCE_MS).unref();
  }
}
