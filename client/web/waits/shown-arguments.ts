/** The arguments that an approval is about, with every character as it is. */
import { isJsonObject } from '../../../definition/storable-json';
import type { Json, JsonObject } from '../../../workflows/contract/json';
import type { WaitView } from '../../schemas/wait';

/** Undefined where they are not shown whole: what is not seen is not edited. */
export const argumentsOf = ({ plan, operation }: Pick<WaitView, 'plan' | 'operation'>): JsonObject | undefined => {
  if (plan.kind !== 'plan') return undefined;
  const shown = plan.operations.find((each) => each.operation === operation) ?? plan.operations[0];
  if (shown?.isComplete !== true) return undefined;
  const value = parseArguments(shown.argumentsJson);
  return isJsonObject(value) ? value : undefined;
};

const parseArguments = (json: string): Json => JSON.parse(json) as Json;
