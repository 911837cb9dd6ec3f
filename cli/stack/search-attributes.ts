import { isGrpcServiceError, type Connection } from '@temporalio/client';
import type { SearchAttributeType } from '@temporalio/common';

/** Name → type, as in the SDK's `defineSearchAttributeKey`. */
export type SearchAttributeTypes = Readonly<Record<string, SearchAttributeType>>;

/** What the CLI's flag calls a type, and its number on the wire (temporal.api.enums.v1.IndexedValueType). */
const SPELLINGS = {
  TEXT: { flag: 'Text', wire: 1 },
  KEYWORD: { flag: 'Keyword', wire: 2 },
  INT: { flag: 'Int', wire: 3 },
  DOUBLE: { flag: 'Double', wire: 4 },
  BOOL: { flag: 'Bool', wire: 5 },
  DATETIME: { flag: 'Datetime', wire: 6 },
  KEYWORD_LIST: { flag: 'KeywordList', wire: 7 },
} as const satisfies Record<SearchAttributeType, { readonly flag: string; readonly wire: number }>;

export function searchAttributeFlags(attributes: SearchAttributeTypes): readonly string[] {
  return Object.entries(attributes).flatMap(([name, type]) => [
    '--search-attribute',
    `${name}=${SPELLINGS[type].flag}`,
  ]);
}

const GRPC_ALREADY_EXISTS = 6;

/** Registers them with a running server, one by one, as one that exists already fails the whole call. Idempotent. */
export async function registerSearchAttributes(
  connection: Connection,
  namespace: string,
  attributes: SearchAttributeTypes,
): Promise<void> {
  for (const [name, type] of Object.entries(attributes)) {
    try {
      const searchAttributes = { [name]: SPELLINGS[type].wire };
      await connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
    } catch (error) {
      const code: number | undefined = isGrpcServiceError(error) ? error.code : undefined;
      if (code !== GRPC_ALREADY_EXISTS) throw error;
    }
  }
}
