/** What can be done with a run that has ended: say what became of its operations, and go on with it in another run. */
import { startWorkflow, type StartTarget } from '../relays/start-workflow';
import type { RunRow } from '../store/rows';
import { reopenRun, type ReopenRequest } from './reopen';
import { resolveOperation, type Resolving, type ResolutionReceipt, type ResolveRequest } from './resolve';
import type { Caller } from './start-request';

export interface AfterEndOptions extends Resolving, StartTarget {}

export class AfterEnd {
  constructor(private readonly options: AfterEndOptions) {}

  /**
   * What a person found out about an operation that was open at the end. Only after the end: before it such a word is a
   * response to its wait. The id makes a repeated call the same resolution. Throws `resolve.…`, `operation.not_found`.
   */
  resolve(caller: Caller, run: string, request: ResolveRequest): Promise<ResolutionReceipt> {
    return resolveOperation(this.options, { caller, run }, request);
  }

  /**
   * Another run goes on where this one has ended, with its facts, operations and account; repeated, it is the same run. Throws
   * `reopen.…` where the run goes on, an operation of it has no proved end, or it asks for more than is permitted.
   */
  reopen(caller: Caller, run: string, request: ReopenRequest = {}): Promise<RunRow> {
    const start = (row: RunRow): Promise<void> => startWorkflow(this.options, row);
    return reopenRun({ ...this.options, startWorkflow: start }, { caller, run }, request);
  }
}
