/**
 * The bare loop that everything is compared with: a model activity and a tool activity, results by value, nothing recorded
 * elsewhere, no validation, nothing that survives a lost receipt. The least that an agent on Temporal can be.
 */
import { proxyActivities } from '@temporalio/workflow';

export interface BareActivities {
  /** What the model proposes for this step; undefined where it is done. */
  askModel(input: { readonly goal: string; readonly step: number }): Promise<string | undefined>;
  useTool(input: { readonly proposal: string }): Promise<string>;
}

const { askModel, useTool } = proxyActivities<BareActivities>({
  startToCloseTimeout: '1 minute',
  heartbeatTimeout: '3s',
});

export async function bareLoop(goal: string): Promise<number> {
  for (let step = 1; ; step += 1) {
    const proposal = await askModel({ goal, step });
    if (proposal === undefined) return step;
    await useTool({ proposal });
  }
}
