/** Moments on the wire. */
export const toIso = (ms: number): string => new Date(ms).toISOString();

type Defined<T> = { readonly [K in keyof T]?: NonNullable<T[K]> };

/** Without the members that are not there. */
export const given = <T extends object>(members: T): Defined<T> =>
  parseDefined(Object.entries(members).filter(([, value]) => value !== undefined));

const parseDefined = <T>(entries: readonly (readonly [string, unknown])[]): Defined<T> =>
  Object.fromEntries(entries) as Defined<T>;

/** The moments among them that are there. */
export const times = <Name extends string>(
  moments: Readonly<Record<Name, number | undefined>>,
): Partial<Record<Name, string>> =>
  parseTimes(
    Object.entries<number | undefined>(moments).flatMap(([name, ms]) => (ms === undefined ? [] : [[name, toIso(ms)]])),
  );

const parseTimes = <Name extends string>(entries: readonly (readonly string[])[]): Partial<Record<Name, string>> =>
  Object.fromEntries(entries) as Partial<Record<Name, string>>;
