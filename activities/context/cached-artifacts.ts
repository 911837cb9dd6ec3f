/**
 * The artifact store with the newest writes and reads kept: what one activity stores the next one reads, and nothing in it
 * ever changes. It may stand around the store of a whole worker.
 */
import type { ArtifactHash } from '../../workflows/contract/ids';
import type { ActivityDeps } from '../deps';
import { createBoundedCache } from './bounded-cache';
import type { Content } from './read-artifact';

type Artifacts = ActivityDeps['store']['artifacts'];

const CACHED_BYTES = 32 * 1024 * 1024;
const CACHED_ENTRIES = 5_000;
/** Short ones repeat: the same look-ups, the same arguments. They are not put again. */
const SHORT_TEXT = 500;
const KNOWN_ENTRIES = 1_000;

export const cacheArtifacts = (artifacts: Artifacts): Artifacts => {
  const contents = createBoundedCache<Content>({ maxEntries: CACHED_ENTRIES, maxWeight: CACHED_BYTES });
  /** As text, so that nobody shares an object with anybody. */
  const texts = createBoundedCache<string>({ maxEntries: CACHED_ENTRIES, maxWeight: CACHED_BYTES });

  /** What was stored stays stored. */
  const known = createBoundedCache<ArtifactHash>({ maxEntries: KNOWN_ENTRIES });

  const get: Artifacts['get'] = async (tenant, hash) => {
    const key = `${tenant}/${hash}`;
    const cached = contents.get(key);
    if (cached !== undefined) return cached;
    const read = await artifacts.get(tenant, hash);
    if (read !== undefined) contents.set(key, read, read.bytes.length);
    return read;
  };
  return {
    get,
    // Kept before it is stored: whoever knows its name has it from a row that was stored with it.
    draft: (tenant, content) => {
      const draft = artifacts.draft(tenant, content);
      contents.set(`${tenant}/${draft.hash}`, content, content.bytes.length);
      return draft;
    },
    draftJson: (tenant, value) => {
      const draft = artifacts.draftJson(tenant, value);
      contents.set(`${tenant}/${draft.hash}`, draft, draft.bytes.length);
      return draft;
    },
    put: async (tenant, content) => {
      const hash = await artifacts.put(tenant, content);
      contents.set(`${tenant}/${hash}`, content, content.bytes.length);
      return hash;
    },
    putJson: async (tenant, value) => {
      const text = JSON.stringify(value);
      const same = `${tenant}/${text}`;
      const stored = text.length > SHORT_TEXT ? undefined : known.get(same);
      if (stored !== undefined) return stored;
      const hash = await artifacts.putJson(tenant, value);
      if (text.length <= SHORT_TEXT) known.set(same, hash);
      if (!ESCAPED_SURROGATE.test(text)) texts.set(`${tenant}/${hash}`, text, text.length);
      return hash;
    },
    getJson: async (tenant, hash) => {
      const text = texts.get(`${tenant}/${hash}`);
      if (text !== undefined) return parseJson(text);
      const content = await get(tenant, hash);
      // The store says what is missing.
      return content === undefined ? artifacts.getJson(tenant, hash) : parseJson(decoder.decode(content.bytes));
    },
  };
};

/** What the store keeps of such text differs from what it was given. */
const ESCAPED_SURROGATE = /\\ud[89a-f]/;

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

const parseJson = (text: string): unknown => JSON.parse(text);
