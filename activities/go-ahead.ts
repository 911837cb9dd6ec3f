/**
 * Judges a candidate, and does in the same activity what the machine certainly asks for next: short reads that are due, then
 * the next step's context. A step so takes one local activity instead of three. Nothing here decides: the machine is told
 * of each part, and what it does not ask for counts for nothing. A part that fails is left to the machine, which asks for it
 * and meets the fault itself.
 */
import type {
  Ahead,
  FreezeInput,
  FrozenContext,
  Judged,
  JudgeInput,
  ReadAhead,
} from '../workflows/contract/activities';
import type { LocalActivities } from '../workflows/contract/activities';
import { freezeAfter } from '../workflows/contract/ahead';
import type { JudgedCall } from '../workflows/machine/events';
import type { ActivityDeps } from './deps';
import { sharingReads } from './shared-reads';

export interface AheadParts extends Pick<LocalActivities, 'judgeCandidate' | 'readShort'> {
  /** Undefined where the context has to wait for READY. */
  readonly freezeAhead: (input: FreezeInput) => Promise<FrozenContext | undefined>;
  readonly log: ActivityDeps['log'];
}

export const createJudgeAndGoAhead =
  (parts: AheadParts): LocalActivities['judgeCandidate'] =>
  (input) =>
    sharingReads(async () => {
      const judged = await parts.judgeCandidate(input);
      if (judged.kind !== 'callsJudged' || !hasRoom(input, judged.calls)) return judged;
      return { ...judged, ...(await goAhead(parts, input, judged.calls)) };
    });

/** Else the run ends here, with its budget spent. */
const hasRoom = ({ room = 0 }: JudgeInput, calls: readonly JudgedCall[]): boolean =>
  calls.filter(({ phase }) => phase !== 'ENDED').length <= room;

const goAhead = async (
  parts: AheadParts,
  input: JudgeInput,
  calls: readonly JudgedCall[],
): Promise<Pick<Judged, 'ahead'>> => {
  const due = calls.filter(({ phase, effect, isShort }) => phase === 'DUE' && effect === 'read' && isShort === true);
  const read = await Promise.all(due.map((call) => readAhead(parts, input, call)));
  const reads = read.filter((each) => each !== undefined);
  const frozen = await freezeNext(parts, input, { calls, reads });
  const ahead: Ahead = { reads, ...(frozen === undefined ? {} : { frozen }) };
  return reads.length === 0 && frozen === undefined ? {} : { ahead };
};

const readAhead = (
  parts: AheadParts,
  { ref, step }: JudgeInput,
  { ordinal }: JudgedCall,
): Promise<ReadAhead | undefined> =>
  orLeave(parts, async () => ({ ordinal, ...(await parts.readShort({ ref, step, ordinal })) }));

const freezeNext = (
  parts: AheadParts,
  input: JudgeInput,
  { calls, reads }: { readonly calls: readonly JudgedCall[]; readonly reads: readonly ReadAhead[] },
): Promise<FrozenContext | undefined> => {
  const { ref, planVersion, totals } = input;
  const freeze = freezeAfter(input, calls, reads);
  if (freeze === undefined) return Promise.resolve(undefined);
  return orLeave(parts, () =>
    parts.freezeAhead({ ref, planVersion, freeze, ...(totals === undefined ? {} : { totals }) }),
  );
};

const orLeave = async <Part>({ log }: AheadParts, work: () => Promise<Part>): Promise<Part | undefined> => {
  try {
    return await work();
  } catch (error) {
    log.info({ err: error }, 'a part could not be done ahead; the machine will ask for it');
    return undefined;
  }
};
