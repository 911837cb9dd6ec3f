/** What keeps a context from being made or read. Each says whether trying again, here or elsewhere, can help. */
import type { ArtifactHash, WaitId } from '../../workflows/contract/ids';
import type { RunRef } from '../../workflows/contract/records';

/** The run's row is missing: it was started by a name that no caller ever described. */
export class RunMissing extends Error {
  readonly code = 'run.missing';
  readonly isRetryable = false;
  constructor(readonly ref: RunRef) {
    super(`run: ${ref.run} of tenant ${ref.tenant} is not in the store, expected the row that a start writes first`);
    this.name = 'RunMissing';
  }
}

/** The row exists, but nothing has bound it to a definition yet. */
export class RunNotOpen extends Error {
  readonly code = 'run.not_open';
  readonly isRetryable = false;
  constructor(readonly ref: RunRef) {
    super(`definition: ${ref.run} has none, expected a run that was opened`);
    this.name = 'RunNotOpen';
  }
}

interface Fault {
  /** Name of the shape, for instance `manifest`. */
  readonly shape: string;
  readonly hash: string;
}

/** An artifact is not what the row or manifest that names it says it is. */
export class ArtifactUnreadable extends Error {
  readonly code = 'artifact.unreadable';
  readonly isRetryable = false;
  constructor(readonly fault: Fault & { readonly field: string; readonly expected: string }) {
    super(`${fault.shape} ${fault.hash}: ${fault.field === '' ? 'value' : fault.field}: ${fault.expected}`);
    this.name = 'ArtifactUnreadable';
  }
}

/** Written by a newer release. A worker of that release can read it, so trying again elsewhere helps. */
export class ArtifactVersionUnknown extends Error {
  readonly code = 'artifact.version_unknown';
  readonly isRetryable = true;
  constructor(readonly fault: Fault & { readonly version: unknown; readonly known: readonly number[] }) {
    super(
      `${fault.shape} ${fault.hash}: schemaVersion: got ${String(fault.version)}, expected ${fault.known.join(' or ')}`,
    );
    this.name = 'ArtifactVersionUnknown';
  }
}

/** A manifest or an input names a wait that is not there. */
export class WaitMissing extends Error {
  readonly code = 'wait.missing';
  readonly isRetryable = false;
  constructor(
    readonly ref: RunRef,
    readonly wait: WaitId,
  ) {
    super(`wait: ${wait} of ${ref.run} is not in the store`);
    this.name = 'WaitMissing';
  }
}

/** More manifests in a row than are ever written: not one of ours. */
export class ChainTooLong extends Error {
  readonly code = 'context.chain_too_long';
  readonly isRetryable = false;
  constructor(
    readonly ref: RunRef,
    readonly context: ArtifactHash,
  ) {
    super(`context: ${context} of ${ref.run} has no root within reach`);
    this.name = 'ChainTooLong';
  }
}
