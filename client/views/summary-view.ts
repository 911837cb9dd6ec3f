/** Counts of a period as rates. */
import type { Period, Summary } from '../../store/reader';
import type { SummaryView } from '../schemas/summary';
import { given, toIso } from './time';

export const toSummaryView = (period: Period, summary: Summary): SummaryView => {
  const { ended, finishes, loops, costMicros } = summary;
  const allEnded = Object.values(ended).reduce((sum, count) => sum + count, 0);
  return {
    from: toIso(period.from),
    to: toIso(period.to),
    started: summary.started,
    active: summary.active,
    ended: { ...ended },
    completionRate: ratio(ended.SUCCEEDED, allEnded),
    finishProposals: finishes.proposals,
    prematureFinishRate: ratio(finishes.premature, finishes.runs),
    noProgressStops: loops.stopped,
    corrections: loops.corrected,
    costMicros,
    costMicrosPerQualifiedTask: ratio(costMicros, ended.SUCCEEDED),
    userMs: Math.round(summary.userMs),
    systemMs: Math.round(summary.systemMs),
    ...given({ agent: period.agent }),
  };
};

const ratio = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole);
