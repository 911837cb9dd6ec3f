/** The agents whose policies a command asks, and the key of the tokens of waits: those named, else the development stack's. */
import { addToEnvironment } from '../config/environment';
import { loadRegistry } from '../workers/load-registry';
import type { CliContext } from './context';
import type { StackFile } from './dev/stack-file';

type Registry = Awaited<ReturnType<typeof loadRegistry>>;

export interface Named {
  /** As the command was told. */
  readonly agents: string | undefined;
  readonly stack: StackFile | undefined;
}

/** Throws `agents.not_loadable` where agents are named and cannot be loaded. */
export const loadAgentsOf = async (context: CliContext, { agents, stack }: Named): Promise<Registry | undefined> => {
  const path = agents ?? context.settings().agents ?? stack?.agentsModule.path;
  if (path === undefined) return undefined;
  // An example's agents find its own services in the environment.
  if (stack !== undefined) addToEnvironment(stack.agentsModule.environment);
  return loadRegistry(path);
};

export const tokenKeyOf = (context: CliContext, stack: StackFile | undefined): Uint8Array | undefined =>
  stack?.tokenKey === undefined ? context.settings().tokenKey : Buffer.from(stack.tokenKey, 'base64');
