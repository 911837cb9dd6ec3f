/** Who the model can play, by the name that a task's `data.persona` gives. */
import type { Persona } from '../persona';
import { asksAnalysisForFact, hasty, ponders, premature } from './ending';
import { obeysInjection } from './obeying';
import { alternates, repeatsError, repeatsQuery, walks, wanders } from './reading';
import { fiveParallel, insists, sameCommentTwice, twoReadsOneWrite, twoWrites } from './writing';

export const PERSONAS: ReadonlyMap<string, Persona> = new Map([
  ['repeats-query', repeatsQuery],
  ['alternates', alternates],
  ['wanders', wanders],
  ['repeats-error', repeatsError],
  ['walks', walks],
  ['premature', premature],
  ['hasty', hasty],
  ['asks-analysis-for-fact', asksAnalysisForFact],
  ['ponders', ponders],
  ['obeys-injection', obeysInjection],
  ['two-reads-one-write', twoReadsOneWrite],
  ['five-parallel', fiveParallel],
  ['two-writes', twoWrites],
  ['same-comment-twice', sameCommentTwice],
  ['insists', insists],
]);
