import { existsSync } from 'node:fs';
import { BUNDLE_PATH } from '../../workers/bundle';
import { loadRegistry } from '../../workers/load-registry';
import { describeError } from '../errors';
import type { Targets } from '../targets';
import { ok, wrong, type Finding } from './finding';

/** Whether the agents load and pass every check that a worker makes when it starts. */
export const checkAgents = async (path: string | undefined, { stack }: Pick<Targets, 'stack'>): Promise<Finding> => {
  if (path === undefined) {
    // The stack's worker has loaded and checked them already.
    if (stack !== undefined) return ok('agents', `the stack's worker serves ${stack.agents.join(', ')}`);
    return wrong(
      'agents',
      'no agents are named',
      'set HOLDFAST_AGENTS or give --agents: a compiled module that exports `agents`',
    );
  }
  try {
    const { agents } = await loadRegistry(path);
    return ok('agents', `${path}: ${[...agents.keys()].join(', ')}`);
  } catch (error) {
    return wrong('agents', describeError(error).message, 'mend what is named; a worker does not start with it');
  }
};

export const checkBundle = (path: string = BUNDLE_PATH): Finding =>
  existsSync(path)
    ? ok('bundle', path)
    : wrong('bundle', `no workflow bundle at ${path}`, 'run: npm run build (or only: npm run bundle)');
