/** Rows of runs as their readers see them. */
import type { RunReading } from '../../store/reader';
import type { JournalEntry } from '../../store/rows';
import type { EventView } from '../schemas/event';
import type { ListedRunView, RunView } from '../schemas/run';
import { given, times, toIso } from './time';

export const toListedRun = ({ row, totals, waitingSince }: RunReading): ListedRunView => ({
  run: row.ref.run,
  agent: row.agent,
  goal: row.task.goal,
  subject: row.principal.subject,
  state: row.state,
  step: row.step,
  planVersion: row.planVersion,
  createdAt: toIso(row.createdAt),
  totals: { ...totals },
  ...given({ terminal: row.terminal, reason: row.reason, reopens: row.reopens, follows: row.follows }),
  ...times({
    openedAt: row.openedAt,
    deadlineAt: row.deadlineAt,
    endedAt: row.endedAt,
    cancelRequestedAt: row.cancelRequestedAt,
    waitingSince,
  }),
});

export const toRunView = (reading: RunReading): RunView => ({
  ...toListedRun(reading),
  roles: [...reading.row.principal.roles],
  data: parseObject(reading.row.task.data),
  position: reading.position,
  ...given({
    limits: reading.row.limits === undefined ? undefined : parseObject(reading.row.limits),
    definition: reading.row.definition,
  }),
});

export const toEventView = (entry: JournalEntry): EventView => ({
  position: entry.position,
  kind: entry.kind,
  recordedAt: toIso(entry.recordedAt),
  body: parseObject(entry.body),
  ...given({ seq: entry.seq, eventId: entry.eventId }),
});

// Stored JSON is read-only here and writable to the schemas' types; nobody writes it.
export const parseObject = (value: object): RunView['data'] => value as RunView['data'];
