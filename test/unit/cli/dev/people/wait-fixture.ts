import type { WaitDetails } from '../../../../../client/waits';
import { parseArtifactHash, parseRunId, parseWaitId } from '../../../../../workflows/contract/ids';

export const aWait = (changes: Partial<WaitDetails> = {}): WaitDetails => ({
  wait: parseWaitId('wait_4f3c2a_4_1'),
  run: parseRunId('run_4f3c2a'),
  kind: 'approval',
  state: 'OPEN',
  stateVersion: 4,
  planVersion: 1,
  openedAt: 0,
  expiresAt: 60_000,
  agent: 'tickets',
  goal: 'Reassign T100',
  requester: 'alice',
  remainingMs: 60_000,
  planHash: parseArtifactHash('0'.repeat(64)),
  plan: {
    kind: 'plan',
    why: 'the policy permits it with the approval of a person only',
    operations: [
      {
        operation: 'op_4f3c2a_3_1',
        tool: 'reassign_ticket',
        risk: 'medium',
        target: 'ticket:T100',
        expectedVersion: '3',
        arguments: { team: 'payments' },
        argumentsJson: '{"team":"payments"}',
        bytes: 19,
        isComplete: true,
      },
    ],
    isComplete: true,
  },
  responseSchema: { type: 'object', properties: { decision: { type: 'string' } } },
  mayRespond: true,
  token: 'token',
  responses: [],
  ...changes,
});
