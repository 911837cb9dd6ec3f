/** Keeps the newest uses of immutable values, up to a count and a total weight. */

export interface BoundedCache<Value> {
  get(key: string): Value | undefined;
  set(key: string, value: Value, weight?: number): void;
}

export interface CacheBounds {
  readonly maxEntries: number;
  /** Of the weights given with `set`, in whatever unit; a value heavier than this is not kept. */
  readonly maxWeight?: number;
}

interface Entry<Value> {
  readonly value: Value;
  readonly weight: number;
}

export const createBoundedCache = <Value>({ maxEntries, maxWeight = Infinity }: CacheBounds): BoundedCache<Value> => {
  // A Map keeps the order of insertion: what is used goes to the end, what is dropped comes from the start.
  const entries = new Map<string, Entry<Value>>();
  let total = 0;
  const drop = (key: string): Entry<Value> | undefined => {
    const entry = entries.get(key);
    if (entry === undefined) return undefined;
    entries.delete(key);
    total -= entry.weight;
    return entry;
  };
  const keep = (key: string, entry: Entry<Value>): void => {
    entries.set(key, entry);
    total += entry.weight;
  };
  return {
    get(key) {
      const entry = drop(key);
      if (entry === undefined) return undefined;
      keep(key, entry);
      return entry.value;
    },
    set(key, value, weight = 0) {
      drop(key);
      if (weight > maxWeight) return;
      keep(key, { value, weight });
      for (const oldest of entries.keys()) {
        if (entries.size <= maxEntries && total <= maxWeight) return;
        drop(oldest);
      }
    },
  };
};
