/** The waits of the services that a command works with, and the agents whose policies say who may answer. */
import { Waits } from '../../../client/waits';
import type { Caller } from '../../../client/start-request';
import { addToEnvironment } from '../../../config/environment';
import { loadRegistry } from '../../../workers/load-registry';
import type { CliContext } from '../../context';
import { withServices, type Services } from '../../services';
import type { ScopeOptions } from '../runs/scope';

export interface WaitsScope extends ScopeOptions {
  readonly role: readonly string[];
  readonly agents?: string;
}

export interface OneWaitOptions extends WaitsScope {
  readonly wait: string;
}

export const callerOf = ({ tenant, subject, role }: WaitsScope): Caller => ({ tenant, subject, roles: role });

/** Throws `agents.not_loadable` where agents are named and cannot be loaded; without any, nobody may answer here. */
export const withWaits = <T>(context: CliContext, options: WaitsScope, use: (waits: Waits) => Promise<T>): Promise<T> =>
  withServices(context, async (services) => {
    const agents = await loadAgentsOf(context, options, services);
    const tokenKey =
      services.stack?.tokenKey === undefined ? context.settings().tokenKey : parseKey(services.stack.tokenKey);
    return use(
      new Waits({
        store: services.store,
        temporal: services.temporal,
        ...(agents === undefined ? {} : { agents }),
        ...(tokenKey === undefined ? {} : { tokenKey }),
      }),
    );
  });

const parseKey = (text: string): Uint8Array => Buffer.from(text, 'base64');

type Registry = Awaited<ReturnType<typeof loadRegistry>>;

const loadAgentsOf = async (
  context: CliContext,
  { agents: given }: WaitsScope,
  { stack }: Services,
): Promise<Registry | undefined> => {
  const path = given ?? context.settings().agents ?? stack?.agentsModule.path;
  if (path === undefined) return undefined;
  // An example's agents find its own services in the environment.
  if (stack !== undefined) addToEnvironment(stack.agentsModule.environment);
  return loadRegistry(path);
};
