/** The run's facts as conditions see them: the newest of each object and field. */
import type { FactsView } from '../../definition/agent';
import type { Fact } from '../../workflows/contract/records';

const keyOf = (object: string, field: string): string => JSON.stringify([object, field]);

/** `facts` in the order in which they were confirmed: a later one on the same object and field supersedes. */
export const createFactsView = (facts: readonly Fact[]): FactsView => {
  const newest = new Map<string, Fact>();
  for (const fact of facts) {
    const key = keyOf(fact.object, fact.field);
    // A superseded fact gives up its place: `all` stays in the order of confirmation.
    newest.delete(key);
    newest.set(key, fact);
  }
  const all: readonly Fact[] = Object.freeze([...newest.values()]);
  return {
    all,
    find: (object, field) => newest.get(keyOf(object, field)),
    ofKind: (kind, field) => all.filter((fact) => fact.field === field && fact.object.startsWith(`${kind}:`)),
  };
};
