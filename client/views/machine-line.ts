/** A machine event as its journal line holds it (the contract's `MachineEvent`). */
import { z } from 'zod';
import type { JournalEntry } from '../../store/rows';

const MACHINE_LINE = z.object({
  from: z.string(),
  event: z.string(),
  to: z.string(),
  rule: z.string(),
  at: z.number(),
  cause: z.record(z.string(), z.union([z.string(), z.number()])).default({}),
});
export type MachineLine = z.output<typeof MACHINE_LINE>;

/** Undefined for an outside event. */
export const parseMachineLine = (entry: Pick<JournalEntry, 'kind' | 'body'>): MachineLine | undefined =>
  entry.kind === 'machine' ? MACHINE_LINE.parse(entry.body) : undefined;
