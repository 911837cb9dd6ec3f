/** A worker: one connection, one prebuilt bundle, activities made from what is passed in. */
import { Worker, type NativeConnection, type WorkerDeploymentOptions, type WorkerOptions } from '@temporalio/worker';
import { createActivities } from '../activities/create-activities';
import type { ActivityDeps } from '../activities/deps';
import { Alarm } from './alarm';
import { BUNDLE_PATH } from './bundle';
import type { WorkerMetrics } from './metrics';

export interface HoldfastWorkerOptions {
  readonly connection: NativeConnection;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly deps: ActivityDeps;
  readonly metrics?: Pick<WorkerMetrics, 'stuck'>;
  readonly bundlePath?: string;
  /** For tests: 0 replays every task from the start. */
  readonly maxCachedWorkflows?: number;
  /** Absent: any worker of the task queue takes any run. */
  readonly deployment?: { readonly name: string; readonly buildId: string };
}

/**
 * Recovery after a worker's death is bounded by these (DESIGN.md 14): a dead worker's sticky queue is left after a second,
 * and heartbeats reach the server often enough for a time-out of three seconds to mean something.
 */
const RECOVERY: Pick<
  WorkerOptions,
  'stickyQueueScheduleToStartTimeout' | 'maxHeartbeatThrottleInterval' | 'defaultHeartbeatThrottleInterval'
> = {
  stickyQueueScheduleToStartTimeout: '1s',
  maxHeartbeatThrottleInterval: '500ms',
  defaultHeartbeatThrottleInterval: '500ms',
};

/** Work in flight gets so long to finish or to be handed over when the worker is asked to stop. */
const SHUTDOWN_GRACE = '5s';

export const createWorker = ({
  connection,
  namespace,
  taskQueue,
  deps,
  metrics,
  bundlePath = BUNDLE_PATH,
  maxCachedWorkflows,
  deployment,
}: HoldfastWorkerOptions): Promise<Worker> =>
  Worker.create({
    connection,
    namespace,
    taskQueue,
    workflowBundle: { codePath: bundlePath },
    activities: createActivities(deps),
    interceptors: { activity: [() => ({ inbound: new Alarm(deps.log, metrics) })] },
    shutdownGraceTime: SHUTDOWN_GRACE,
    ...RECOVERY,
    ...(maxCachedWorkflows === undefined ? {} : { maxCachedWorkflows }),
    workerDeploymentOptions: deployment === undefined ? ANY_RELEASE : toOptions(deployment),
  });

/** A history notes the build of the worker with every task: by default a long name, which makes 260 bytes of each step. */
const ANY_RELEASE: WorkerDeploymentOptions = {
  useWorkerVersioning: false,
  version: { deploymentName: 'holdfast', buildId: 'any' },
};

/**
 * Pinned: a run stays with the release that began it, whose tools and conditions are the ones that it was bound to. Another
 * release would hand it to a person wherever they differ (docs/deploying.md).
 */
const toOptions = ({ name, buildId }: NonNullable<HoldfastWorkerOptions['deployment']>): WorkerDeploymentOptions => ({
  useWorkerVersioning: true,
  version: { deploymentName: name, buildId },
  defaultVersioningBehavior: 'PINNED',
});
