export { startModelServer, type ModelServer, type ModelServerOptions } from './server';
export {
  byExchange,
  lastToolResults,
  lastUserText,
  rawToolUse,
  redactedThinking,
  ScriptError,
  sequence,
  text,
  thinking,
  toolResultText,
  toolUse,
  toolUsesSoFar,
  turn,
  type Script,
  type ScriptMessage,
  type ScriptRequest,
} from './script';
export type { Turn, TurnBlock, TurnUsage } from './turn';
export type { NativeBlock, NativeTool, NativeToolResult } from './native-request';
export type { FaultInput, FaultRuleInput, StreamPoint } from './faults/fault';
export type { BookEntry } from './book';
export type { RequestOutcome, RequestRecord } from './request-log';
export type { RequestLimits } from './validate-request/limits';
