/** The task itself, and the ways in which a model does not get there. */
import { failed, GOAL, playedBy, scenario, succeeded, T100_MOVED, type Scenario } from './scenario';

export const WALK_THROUGH: readonly Scenario[] = [
  scenario({
    name: 'normal',
    id: 'A1',
    title: 'reads the ticket and the rules, reassigns it once, explains it with evidence',
    expected: succeeded(T100_MOVED),
  }),
  scenario({
    name: 'accepted',
    id: 'A4',
    title: 'the desk takes the write as a job; the run waits for it and asks no model meanwhile',
    deskFaults: [{ match: { route: 'reassign' }, fault: { kind: 'accept-job', runMs: 1_500 } }],
    expected: succeeded(T100_MOVED),
  }),
  scenario({
    name: 'accepted-then-failed',
    id: 'A4',
    title: 'the job fails: the model is told of what kind, and tries again',
    deskFaults: [{ match: { route: 'reassign' }, fault: { kind: 'accept-job', runMs: 500, outcome: 'failed' } }],
    expected: succeeded(T100_MOVED),
  }),
  scenario({
    name: 'lost-receipt',
    id: 'A5',
    title: 'the desk reassigns the ticket and drops the connection: found by its key, not sent again',
    deskFaults: [{ match: { route: 'reassign' }, fault: { kind: 'apply-then-drop' } }],
    expected: succeeded(T100_MOVED),
  }),
  scenario({
    name: 'repeated-query',
    id: 'A6',
    title: 'the model asks for the same ticket again and again: stopped by the loop rule',
    ...playedBy('repeats-query'),
    expected: failed('loop.repeatedCall'),
  }),
  scenario({
    name: 'premature-finish',
    id: 'A7',
    title: 'the model says "reassigned" without having done it, and insists: never a success',
    ...playedBy('premature'),
    expected: failed('repairs.finish.condition_unmet'),
  }),
  scenario({
    name: 'hasty-finish',
    id: 'A7',
    title: 'the model says it once; told what is missing, it does the work',
    ...playedBy('hasty'),
    expected: succeeded(T100_MOVED),
  }),
  scenario({
    name: 'lost-text',
    id: 'A8',
    title: 'the reassignment is done, the final text is cut: asked for again, nothing is done twice',
    // The evidence of the reassignment is in no request before it.
    modelFaults: [{ fault: { kind: 'cut', at: { point: 'mid-block' } }, textIncludes: '"evidence":"E3.1"' }],
    expected: succeeded(T100_MOVED),
  }),
  scenario({
    name: 'compared-teams',
    id: 'A9',
    title: 'two rules could apply: one step of thinking, then the ticket moves',
    goal: GOAL.replace('T100', 'T104'),
    data: { ticket: 'T104' },
    expected: succeeded({ kind: 'reassign', ticket: 'T104', team: 'messaging-oncall' }),
  }),
  scenario({
    name: 'analysis-for-a-fact',
    id: 'A9',
    title: 'thinking is refused where a fact has to be read',
    ...playedBy('asks-analysis-for-fact'),
    expected: succeeded(T100_MOVED),
  }),
  scenario({
    name: 'endless-analysis',
    id: 'A9',
    title: 'thinking is bounded',
    goal: GOAL.replace('T100', 'T104'),
    ...playedBy('ponders', { ticket: 'T104' }),
    expected: failed('analyses.spent'),
  }),
];
