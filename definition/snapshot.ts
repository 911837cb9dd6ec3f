/** The pinned definition of a run: an agent as data, stored as an artifact and named by its hash. */
import type { JsonObject } from '../workflows/contract/json';
import type { Limits } from '../workflows/machine/limits';
import type { WaitKind } from '../workflows/machine/states';
import type { ModelRoute, WaitSettings } from './agent';
import type { Risk } from './tool';

export interface ToolSnapshot {
  readonly name: string;
  readonly description: string;
  readonly effect: 'read' | 'write';
  readonly risk: Risk;
  /** The provider's input schema, a root object without combinators at its root. */
  readonly inputSchema: JsonObject;
  /** Over name, both schemas and the declaration of effects: a worker whose tool differs hands the run off. */
  readonly hash: string;
}

export interface DefinitionSnapshot {
  readonly schemaVersion: 1;
  readonly agent: string;
  readonly version: string;
  readonly instructions: string;
  readonly tools: readonly ToolSnapshot[];
  readonly policyVersion: string;
  readonly validators: readonly { readonly name: string; readonly version: string }[];
  readonly conditions: readonly string[];
  readonly model: ModelRoute;
  readonly limits: Limits;
  readonly waits: Readonly<Record<WaitKind, WaitSettings>>;
}
