/** From columns, which are null where nothing is, to rows, which leave the member out. */

type Present<T> = { readonly [K in keyof T]?: NonNullable<T[K]> };

/** The members that are there. */
export const present = <T extends object>(members: T): Present<T> =>
  parsePresent(Object.entries(members).filter(([, value]) => value !== null && value !== undefined));

const parsePresent = <T>(entries: readonly (readonly [string, unknown])[]): Present<T> =>
  Object.fromEntries(entries) as Present<T>;

export const mapPresent = <T, U>(value: T | null | undefined, map: (value: T) => U): U | null =>
  value === null || value === undefined ? null : map(value);
