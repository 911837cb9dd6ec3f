/** Said wherever a result is shown, so that nobody takes a scripted answer for a model's. */
import type { ModelUsed } from '../../client/model-used';

export const SCRIPTED = 'scripted, offline';

export const describeModel = ({ model, isScripted }: ModelUsed): string => (isScripted ? SCRIPTED : model);

/** `model: scripted, offline`. */
export const modelLine = (model: ModelUsed | undefined): string =>
  `model: ${model === undefined ? 'none has answered yet' : describeModel(model)}`;
