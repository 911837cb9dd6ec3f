/** What a signal brings. Anybody who reaches the engine may have written it: what is not ours is passed over. */
import { InvalidId, parseOperationId, parseWaitId, type OperationId, type WaitId } from './contract/ids';

export const readWait = (given: unknown): WaitId | undefined => readId(given, 'wait', parseWaitId);

export const readOperation = (given: unknown): OperationId | undefined => readId(given, 'operation', parseOperationId);

/** A whole response instead of the word that there is one. */
export const isWholeResponse = (given: unknown): boolean => fieldOf(given, 'response') !== undefined;

const readId = <Id>(given: unknown, field: string, parse: (value: unknown) => Id): Id | undefined => {
  try {
    return parse(fieldOf(given, field));
  } catch (error) {
    if (error instanceof InvalidId) return undefined;
    throw error;
  }
};

const fieldOf = (given: unknown, field: string): unknown =>
  typeof given === 'object' && given !== null ? new Map<string, unknown>(Object.entries(given)).get(field) : undefined;
