import { Book } from './book';
import { FaultRules } from './faults/fault-rules';
import { Ids } from './ids';
import { RequestLog } from './request-log';
import type { Script } from './script';
import { SentBlocks } from './sent-blocks';
import type { RequestLimits } from './validate-request/limits';

/** All that one server remembers. */
export interface ServerState {
  readonly script: Script;
  readonly limits: RequestLimits;
  readonly ids: Ids;
  readonly sent: SentBlocks;
  readonly faults: FaultRules;
  readonly log: RequestLog;
  readonly book: Book;
  readonly scriptFailures: Error[];
}

export interface StateOptions {
  readonly script: Script;
  readonly limits: RequestLimits;
  readonly keepBook: boolean;
  readonly keptRequests: number;
}

export function createState({ script, limits, keepBook, keptRequests }: StateOptions): ServerState {
  return {
    script,
    limits,
    ids: new Ids(),
    sent: new SentBlocks(),
    faults: new FaultRules(),
    log: new RequestLog(keptRequests),
    book: new Book(keepBook),
    scriptFailures: [],
  };
}

/** As after the start. The script is the caller's: what it remembers stays. */
export function resetState(state: ServerState): void {
  state.ids.clear();
  state.sent.clear();
  state.faults.clear();
  state.log.clear();
  state.book.clear();
  state.scriptFailures.length = 0;
}
