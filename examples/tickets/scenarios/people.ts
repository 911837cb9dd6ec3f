/** Runs that ask people: what is asked, what they say, and what comes of it. */
import { failed, scenario, succeeded, T100_MOVED, type Scenario } from './scenario';

export const PEOPLE: readonly Scenario[] = [
  scenario({
    name: 'approval',
    id: 'A2',
    title: 'a person decides about the write: nothing is sent before, approved it is done once',
    agent: 'tickets-approval',
    answers: [{ kind: 'approval', response: { decision: 'approve' } }],
    expected: succeeded(T100_MOVED),
  }),
  scenario({
    name: 'denied',
    id: 'A2',
    title: 'a person denies the write: nothing is done, and the answer says so',
    agent: 'tickets-approval',
    answers: [{ kind: 'approval', response: { decision: 'deny', reason: 'not before the release' } }],
    expected: failed('blocked.denied'),
  }),
  scenario({
    name: 'missing-input',
    id: 'A3',
    title: 'no ticket is named: asked for; a number is refused, and the right answer continues the same run',
    goal: 'Reassign my ticket by the on-call rules and explain it.',
    data: {},
    answers: [
      { kind: 'question', response: { ticket: 100 }, refusedAs: 'response.invalid' },
      { kind: 'question', response: { ticket: 'T100' } },
    ],
    expected: succeeded(T100_MOVED),
  }),
  scenario({
    name: 'acceptance',
    id: 'A10',
    title: 'a person rejects the answer, then accepts the revised one: the ticket is moved once',
    agent: 'tickets-acceptance',
    answers: [
      { kind: 'acceptance', response: { accept: false, reason: 'Say which rule it was.' } },
      { kind: 'acceptance', response: { accept: true } },
    ],
    expected: succeeded(T100_MOVED),
  }),
  scenario({
    name: 'ambiguous',
    id: 'A11',
    title: 'two tickets match the words: the runtime asks which one is meant',
    goal: 'Give the ticket "Login broken" to the right team and explain.',
    data: {},
    answers: [{ kind: 'question', response: { choice: 'ticket:T102' } }],
    expected: succeeded({ kind: 'reassign', ticket: 'T102', team: 'identity-oncall' }),
  }),
  scenario({
    name: 'found-out-by-a-person',
    id: 'B5',
    title: 'the receipt is lost and nobody can look it up: a person finds out, nothing is sent again',
    agent: 'tickets-neither',
    deskFaults: [{ match: { route: 'reassign' }, fault: { kind: 'apply-then-drop' } }],
    answers: [{ kind: 'reconciliation', response: { state: 'SUCCEEDED', why: 'the audit log of the desk shows it' } }],
    expected: succeeded(T100_MOVED),
  }),
];
