/** Calls tools as the runtime does: arguments through the schema, output through the schema, facts from both. */
import { createTicketTools, type TicketToolOptions } from '../../../../examples/tickets/tools';
import type { DeclaredFact, LookUpContext, Tool } from '../../../../index';
import { parseOperationId, parseRunId, parseTenantId } from '../../../../workflows/contract/ids';

export const KEY = 'op_walkthrough_3_1';

export const contextOf = (changes: Partial<LookUpContext> = {}): LookUpContext => ({
  tenant: parseTenantId('acme'),
  run: parseRunId('run_walkthrough'),
  operation: parseOperationId(KEY),
  principal: { subject: 'alice', roles: [] },
  idempotencyKey: KEY,
  signal: AbortSignal.timeout(5_000),
  ...changes,
});

export const toolOf = (options: TicketToolOptions, name: string): Tool => {
  const tool = createTicketTools(options).find((each) => each.name === name);
  if (tool === undefined) throw new Error(`there is no tool ${name}`);
  return tool;
};

export interface Executed {
  readonly output: unknown;
  readonly facts: readonly DeclaredFact[];
}

/** Throws what the tool throws; a job is an error here. */
export const execute = async (tool: Tool, args: unknown, changes?: Partial<LookUpContext>): Promise<Executed> => {
  const input: unknown = tool.inputSchema.parse(args);
  const result = await tool.execute(input, contextOf(changes));
  if (result.kind === 'accepted') throw new Error(`accepted as job ${result.job}`);
  const output: unknown = tool.outputSchema.parse(result.output);
  return { output, facts: tool.facts?.(output, input) ?? [] };
};

/** `object.field` → value. */
export const named = (facts: readonly DeclaredFact[]): Readonly<Record<string, unknown>> =>
  Object.fromEntries(facts.map(({ object, field, value }) => [`${object}.${field}`, value]));
