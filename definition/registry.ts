/** The agents that this worker has, checked and compiled once at its start. */
import type { z } from 'zod';
import type { AgentDefinition } from './agent';
import type { DefinitionSnapshot } from './snapshot';
import type { Tool } from './tool';

export interface CompiledTool {
  readonly tool: Tool;
  readonly hash: string;
  readonly inputSchema: z.ZodType;
}

export interface CompiledAgent {
  readonly definition: AgentDefinition;
  readonly snapshot: DefinitionSnapshot;
  readonly tools: ReadonlyMap<string, CompiledTool>;
}

export interface AgentRegistry {
  readonly agents: ReadonlyMap<string, CompiledAgent>;
  /** Undefined where this worker has no such agent. */
  find(name: string): CompiledAgent | undefined;
}
