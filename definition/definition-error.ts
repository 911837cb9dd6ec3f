/** Everything that is wrong with the agents of a worker, named at once when it starts. */

export interface DefinitionFault {
  /** Stable and dotted, for instance `tool.name`, `agent.conditions`. */
  readonly code: string;
  readonly agent: string;
  readonly tool?: string;
  /** Path inside the definition, for instance `inputSchema.due`. */
  readonly field: string;
  readonly got: string;
  readonly expected: string;
}

export class DefinitionError extends Error {
  override readonly name = 'DefinitionError';
  readonly code = 'definition.invalid';
  readonly isRetryable = false;
  constructor(readonly faults: readonly DefinitionFault[]) {
    super(`${String(faults.length)} faults in agent definitions\n${faults.map(describeFault).join('\n')}`);
  }
}

const describeFault = ({ code, agent, tool, field, got, expected }: DefinitionFault): string =>
  `  ${agent}${tool === undefined ? '' : `, tool ${tool}`}: ${field}: got ${got}, expected ${expected} [${code}]`;
