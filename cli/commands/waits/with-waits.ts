/** The waits of the services that a command works with, and the agents whose policies say who may answer. */
import { Waits } from '../../../client/waits';
import type { Caller } from '../../../client/start-request';
import { loadAgentsOf, tokenKeyOf } from '../../agents-of';
import type { CliContext } from '../../context';
import { withServices } from '../../services';
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
    const { stack } = services;
    const agents = await loadAgentsOf(context, { agents: options.agents, stack });
    const tokenKey = tokenKeyOf(context, stack);
    return use(
      new Waits({
        store: services.store,
        temporal: services.temporal,
        ...(agents === undefined ? {} : { agents }),
        ...(tokenKey === undefined ? {} : { tokenKey }),
      }),
    );
  });
