import type { RunRef } from '../../workflows/contract/records';

/** This worker cannot check the end of a run that another definition was pinned to; one that has it can. */
export class DefinitionMissing extends Error {
  readonly code = 'definition.missing';
  readonly isRetryable = true;
  constructor(readonly ref: RunRef) {
    super(
      `agent: this worker lacks the definition of ${ref.run}, expected the tools and conditions that it was pinned to`,
    );
    this.name = 'DefinitionMissing';
  }
}
