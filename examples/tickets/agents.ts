/** What a worker loads: the tickets agent, and variants of it for the scenarios. */
import type { AgentDefinition } from '../../index';
import { createTicketsAgent, type TicketsAgentOptions } from './agent';

// eslint-disable-next-line no-restricted-syntax -- an agent's folder is a user's own code, outside of config/
const deskUrl = process.env['HOLDFAST_EXAMPLE_DESK_URL'];
if (deskUrl === undefined || !URL.canParse(deskUrl)) {
  throw new Error(
    `HOLDFAST_EXAMPLE_DESK_URL: got ${deskUrl ?? 'nothing'}, expected the address that the ticket desk printed`,
  );
}

const variant = (name: string, options: Partial<Omit<TicketsAgentOptions, 'name'>> = {}): AgentDefinition =>
  createTicketsAgent({ name, tools: { deskUrl }, ...options });

export const agents: readonly AgentDefinition[] = [
  variant('tickets'),
  // A person decides about every write.
  variant('tickets-approval', { policy: ['approval'] }),
  variant('tickets-approval-tell', {
    policy: ['approval'],
    changes: { waits: { approval: { expiresInMs: 4_000, onExpiry: 'tell-model' } } },
  }),
  // … and it is another person than the one who asked.
  variant('tickets-separate', { policy: ['approval', 'separate'] }),
  // No ticket goes to legal, and none is closed.
  variant('tickets-guarded', { policy: ['guarded'] }),
  variant('tickets-approval-guarded', { policy: ['approval', 'guarded'] }),
  // A person accepts the answer before the run may succeed.
  variant('tickets-acceptance', { changes: { acceptance: true } }),
  // Writes that may rely on less when a receipt is lost.
  variant('tickets-key-only', { tools: { deskUrl, contract: 'key only' } }),
  variant('tickets-look-up-only', { tools: { deskUrl, contract: 'look-up only' } }),
  variant('tickets-neither', { tools: { deskUrl, contract: 'neither' } }),
  // What is still under way when it ends is waited for no longer than this.
  variant('tickets-brief', { changes: { limits: { cancelGraceMs: 1_500 } } }),
  variant('tickets-brief-neither', {
    tools: { deskUrl, contract: 'neither' },
    changes: { limits: { cancelGraceMs: 1_500 } },
  }),
  // Jobs are polled so rarely that only a callback ends one soon.
  variant('tickets-callbacks', { tools: { deskUrl, times: { pollEveryMs: 120_000 } } }),
  // A look-up that gives no answer is given up soon.
  variant('tickets-impatient', { tools: { deskUrl, times: { maxLookUps: 3 } } }),
  // Room for runs of hundreds of steps.
  variant('tickets-long', {
    changes: {
      budgets: { maxSteps: 1_000, maxTokens: 100_000_000, maxCostMicros: 1_000_000_000, maxToolCalls: 2_000 },
    },
  }),
  // The other loop rules are kept out of the way of the one that is shown.
  variant('tickets-alternation', { changes: { loops: { repeatedCall: 12, noProgress: 12, alternatingPlan: 3 } } }),
  variant('tickets-no-progress', { changes: { loops: { repeatedCall: 12, noProgress: 4 } } }),
];
