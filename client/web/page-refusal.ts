/** What only the page refuses: requests that none of its own forms makes, or makes any more. */
export type RefusalStatus = 400 | 401 | 403;

export class PageRefusal extends Error {
  override readonly name = 'PageRefusal';
  constructor(
    readonly status: RefusalStatus,
    readonly title: string,
    message: string,
  ) {
    super(message);
  }
}
