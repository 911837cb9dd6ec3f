/** The agents of a module on disk, checked: what a worker serves and what a doctor looks at. */
import { compileAgents } from '../definition/compile-agent';
import type { AgentRegistry } from '../definition/registry';
import { loadAgents } from './load-agents';

/** Throws AgentsNotLoadable, or DefinitionError with everything that is wrong with any of them. */
export const loadRegistry = async (path: string): Promise<AgentRegistry> => compileAgents(await loadAgents(path));
