/** The activity that calls the model. */
import { Context } from '@temporalio/activity';
import type { Store } from '../../store/store';
import type { RegularActivities } from '../../workflows/contract/activities';
import type { ActivityDeps } from '../deps';
import { withHeartbeat } from '../heartbeat';
import { currentInterruption } from '../interruption';
import { createProvider } from './exchange';
import type { OnText } from './live-text';
import type { Project } from './model-request';
import { runAttempt } from './run-attempt';

export interface ModelParts {
  readonly project: Project;
  /** Where live viewers are; absent where there are none. */
  readonly onText?: OnText;
}

interface ModelDeps extends Pick<ActivityDeps, 'model' | 'log' | 'storeGraceMs'> {
  readonly store: Pick<Store, 'attempts' | 'artifacts'>;
}

/** Throws only where the attempt was interrupted, the store's grace is over, or by our own bug: never for a model's fault. */
export const createModelActivities = (
  deps: ModelDeps,
  { project, onText }: ModelParts,
): Pick<RegularActivities, 'runAttempt'> => {
  const askProvider = createProvider(deps.model);
  return {
    runAttempt: (input) => {
      const { ref, step, attempt } = input;
      const tools = {
        store: deps.store,
        storeGraceMs: deps.storeGraceMs,
        project,
        askProvider,
        onText,
        log: deps.log.child({ tenant: ref.tenant, run: ref.run, step, attempt }),
        interruption: { signal: Context.current().cancellationSignal, read: currentInterruption },
      };
      return withHeartbeat(() => runAttempt(tools, input));
    },
  };
};
