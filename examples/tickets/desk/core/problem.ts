import type { Reply } from './model';

interface ProblemOptions {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  /** Further members of the problem document, such as `currentVersion`. */
  readonly members?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A refusal that the caller is told about, as RFC 9457 problem JSON with a stable `code`. */
export class DeskProblem extends Error {
  override readonly name = 'DeskProblem';
  readonly #options: ProblemOptions;

  constructor(options: ProblemOptions) {
    super(options.detail);
    this.#options = options;
  }

  get code(): string {
    return this.#options.code;
  }

  toReply(): Reply {
    const { status, code, detail, members, headers } = this.#options;
    const type = `urn:ticket-desk:problem:${code}`;
    return {
      status,
      headers: { ...headers, 'Content-Type': 'application/problem+json' },
      body: { type, title: code.replaceAll('_', ' '), status, detail, code, ...members },
    };
  }
}
