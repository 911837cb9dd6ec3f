/** Loads agents from a module on disk: an agent is a folder, and a module names those that a worker is to have. */
import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { AgentDefinition } from '../definition/agent';

export class AgentsNotLoadable extends Error {
  readonly code = 'agents.not_loadable';
  constructor(path: string, expected: string, cause?: unknown) {
    super(`agents: got ${path}, expected ${expected}`, cause === undefined ? undefined : { cause });
    this.name = 'AgentsNotLoadable';
  }
}

/** A compiled module, or a folder with `agents.js` or `agent.js`, that exports `agents` or `agent`. */
export const loadAgents = async (path: string): Promise<readonly AgentDefinition[]> => {
  const file = findModule(resolve(path));
  let loaded: object;
  try {
    loaded = parseModule(await import(file));
  } catch (error) {
    throw new AgentsNotLoadable(path, 'a module that loads', error);
  }
  const { agents, agent }: { agents?: unknown; agent?: unknown } = loaded;
  const found = Array.isArray(agents) ? agents : agent === undefined ? undefined : [agent];
  if (found === undefined || found.length === 0) {
    throw new AgentsNotLoadable(path, "a module that exports 'agents' (a list) or 'agent', made by defineAgent");
  }
  return found.map(parseAgent);
};

const findModule = (path: string): string => {
  const candidates =
    existsSync(path) && statSync(path).isDirectory()
      ? ['agents.js', 'agent.js', 'index.js'].map((name) => join(path, name))
      : [path, `${path}.js`];
  const file = candidates.find((each) => existsSync(each));
  if (file === undefined) throw new AgentsNotLoadable(path, `one of ${candidates.join(', ')}`);
  return file;
};

const parseModule = (loaded: unknown): object => {
  if (typeof loaded !== 'object' || loaded === null) throw new TypeError('not a module');
  return loaded;
};

/** What is wrong inside a definition is named by the compiler of agents, all at once. */
const parseAgent = (value: unknown): AgentDefinition => {
  if (typeof value !== 'object' || value === null) throw new TypeError('an agent is an object made by defineAgent');
  return value as AgentDefinition;
};
