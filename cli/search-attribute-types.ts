/** The search attributes as servers are to know them: all of type Keyword, as the contract says. */
import { SEARCH_ATTRIBUTES } from '../workflows/contract/messages';
import type { SearchAttributeTypes } from './stack/search-attributes';

export const SEARCH_ATTRIBUTE_TYPES: SearchAttributeTypes = Object.fromEntries(
  Object.values(SEARCH_ATTRIBUTES).map((name) => [name, 'KEYWORD' as const]),
);
