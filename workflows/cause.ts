/** The ids and codes of an event that are recorded with its transition: small, never a body. */
import type { RunEvent } from './machine/events';

const RECORDED = [
  'step',
  'attempt',
  'ordinal',
  'wait',
  'code',
  'budget',
  'planVersion',
  'source',
  'retryAfterMs',
  'finding',
  'answer',
  'obstacle',
  'terminal',
  'reason',
] as const;

export const causeOf = (event: RunEvent): Readonly<Record<string, string | number>> => {
  const values = new Map<string, unknown>(Object.entries(event));
  const cause: Record<string, string | number> = {};
  for (const name of RECORDED) {
    const value = values.get(name);
    if (typeof value === 'string' || typeof value === 'number') cause[name] = value;
  }
  if ('outcome' in event)
    cause['outcome'] =
      event.outcome.kind === 'settled' || event.outcome.kind === 'pending' ? event.outcome.state : event.outcome.kind;
  return cause;
};
