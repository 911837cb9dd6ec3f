/** What an agent's author imports: the words in which agents and tools are declared. */
export { defineAgent } from './definition/agent';
export type {
  AgentDefinition,
  CompletionView,
  Condition,
  ConditionVerdict,
  FactsView,
  ModelRoute,
  OutputValidator,
  Prices,
  WaitSettings,
} from './definition/agent';
export { ref } from './definition/ref';
export { defineTool } from './definition/tool';
export type {
  Accepted,
  CallbackBody,
  CallbackContext,
  CallbackReading,
  DeclaredFact,
  ExecuteResult,
  LookUpContext,
  LookUpResult,
  Receipt,
  Risk,
  Target,
  Tool,
  ToolContext,
  ToolDefinition,
} from './definition/tool';
export { ToolError } from './definition/tool-error';
export type { ToolErrorDetails } from './definition/tool-error';
export { ERROR_CODES } from './workflows/contract/errors';
export type { ErrorCode } from './workflows/contract/errors';
export type { Json, JsonObject } from './workflows/contract/json';
export type { Answer, Claim, Fact, Gap, GapKind, OperationSummary } from './workflows/contract/records';
