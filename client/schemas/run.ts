/** A run as its readers see it. */
import { z } from 'zod';
import { STATES } from '../../workflows/machine/states';
import { TERMINALS } from '../../workflows/machine/states';
import { AGENT_NAME, ARTIFACT_HASH, COUNT, JSON_OBJECT, RUN_ID, TIME, pageQuery } from './common';

export const TOTALS = z
  .object({
    steps: COUNT,
    attempts: COUNT,
    inputTokens: COUNT,
    outputTokens: COUNT,
    cacheReadTokens: COUNT,
    cacheWriteTokens: COUNT,
    costMicros: COUNT.meta({ description: 'Millionths of a US dollar.' }),
    toolCalls: COUNT,
    estimatedTokens: COUNT.meta({ description: 'Of the tokens: our estimate, since the figures never arrived.' }),
  })
  .meta({ id: 'Totals' });

export const RUN_STATES = ['STARTING', ...STATES] as const;

const SHARED = {
  run: RUN_ID,
  agent: z.string(),
  goal: z.string(),
  subject: z.string().meta({ description: 'Who asked, for whom permission is checked.' }),
  state: z.enum(RUN_STATES),
  terminal: z.enum(TERMINALS).optional(),
  reason: z.string().optional().meta({ description: 'Why it ended so.' }),
  step: COUNT,
  planVersion: COUNT,
  createdAt: TIME,
  openedAt: TIME.optional(),
  deadlineAt: TIME.optional(),
  endedAt: TIME.optional(),
  cancelRequestedAt: TIME.optional(),
  waitingSince: TIME.optional().meta({ description: 'Since when a person has been waited for.' }),
  reopens: RUN_ID.optional(),
  follows: RUN_ID.optional(),
  totals: TOTALS,
};

export const LISTED_RUN = z.object(SHARED).meta({ id: 'ListedRun' });
export type ListedRunView = z.output<typeof LISTED_RUN>;

export const RUN = z
  .object({
    ...SHARED,
    roles: z.array(z.string()),
    data: JSON_OBJECT,
    limits: JSON_OBJECT.optional().meta({ description: "Narrower than the agent's, as the caller asked." }),
    definition: ARTIFACT_HASH.optional().meta({ description: "The pinned snapshot of the agent's definition." }),
    position: COUNT.meta({ description: 'Of the last line in its journal.' }),
  })
  .meta({ id: 'Run' });
export type RunView = z.output<typeof RUN>;

export const RUN_QUERY = z.object({
  state: z.enum(RUN_STATES).optional(),
  agent: AGENT_NAME.optional(),
  search: z.string().trim().min(1).max(200).optional().meta({
    description:
      'The beginning of an id (`run_…`), or words of the goal or its data: each is the beginning of one, in any order, in capitals or not.',
  }),
  ...pageQuery(50, 200),
});
export type RunQuery = Partial<z.output<typeof RUN_QUERY>>;

export const RUN_PAGE = z.object({ runs: z.array(LISTED_RUN), cursor: z.string().optional() }).meta({ id: 'RunPage' });
export type RunPage = z.output<typeof RUN_PAGE>;
