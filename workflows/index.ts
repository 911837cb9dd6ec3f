/** The workflow functions of the bundle, by name. */
export { agentRun } from './agent-run';
export { reconcile } from './reconcile';
