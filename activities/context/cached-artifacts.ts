/** The artifact store with the newest reads kept: what one step writes the next one reads, and nothing in it ever changes. */
import type { ActivityDeps } from '../deps';
import { createBoundedCache } from './bounded-cache';
import type { Content } from './read-artifact';

type Artifacts = ActivityDeps['store']['artifacts'];

const CACHED_BYTES = 32 * 1024 * 1024;
const CACHED_ENTRIES = 5_000;

export const cacheArtifacts = (artifacts: Artifacts): Artifacts => {
  const cache = createBoundedCache<Content>({ maxEntries: CACHED_ENTRIES, maxWeight: CACHED_BYTES });
  const get: Artifacts['get'] = async (tenant, hash) => {
    const key = `${tenant}/${hash}`;
    const cached = cache.get(key);
    if (cached !== undefined) return cached;
    const read = await artifacts.get(tenant, hash);
    if (read !== undefined) cache.set(key, read, read.bytes.length);
    return read;
  };
  return {
    put: (tenant, content) => artifacts.put(tenant, content),
    putJson: (tenant, value) => artifacts.putJson(tenant, value),
    get,
    getJson: async (tenant, hash) => {
      const content = await get(tenant, hash);
      // The store says what is missing.
      return content === undefined ? artifacts.getJson(tenant, hash) : parseJson(content);
    },
  };
};

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

const parseJson = ({ bytes }: Content): unknown => JSON.parse(decoder.decode(bytes));
