/** What the forms on the page of a run do. */
import { z } from 'zod';
import { RESOLVED_STATES } from '../../../workflows/contract/reconcile';
import { PROBLEMS } from '../../http/problems/catalogue';
import { toProblemError } from '../../http/problems/problem';
import { given } from '../../views/time';
import type { PageContext } from '../page-env';
import type { FormOutcome } from './form-outcome';

const ID = z.uuid();
const MESSAGE = z.object({
  id: ID,
  kind: z.enum(['amend', 'withdraw', 'new_goal']),
  text: z.string().optional(),
  wait: z.string().optional(),
});
const RESOLUTION = z.object({
  id: ID,
  operation: z.string(),
  state: z.enum(RESOLVED_STATES, { error: 'Say what became of it.' }),
  why: z.string().trim().min(1, { error: 'Say how you know it.' }),
});

/** Where the browser goes from here. Throws what the client throws. */
type Act = (c: PageContext, run: string) => Promise<string>;

export const ACTS: Readonly<Record<'cancel' | 'messages' | 'resolutions', Act>> = {
  cancel: async (c, run) => {
    await c.get('client').cancel(run);
    return `/runs/${run}?done=cancelled`;
  },
  messages: async (c, run) => {
    const { id, kind, text = '', wait } = MESSAGE.parse(await c.req.parseBody());
    const words = given({ text: kind === 'withdraw' && text.trim() === '' ? undefined : text, wait });
    const receipt = await c.get('client').message(run, { id: `msg_${id}`, kind, ...words });
    if (receipt.started !== undefined) return `/runs/${receipt.started}?done=started`;
    return `/runs/${run}?done=${kind === 'amend' ? 'amended' : 'withdrawn'}`;
  },
  resolutions: async (c, run) => {
    const { id, ...found } = RESOLUTION.parse(await c.req.parseBody());
    await c.get('client').resolve(run, { id: `res_${id}`, ...found });
    return `/runs/${run}?done=resolved`;
  },
};

/** Undefined for what is no word about the form, but a failure of the service or a run that is not there. */
export const explainRefusal = (
  error: unknown,
): { readonly outcome: FormOutcome; readonly status: number } | undefined => {
  const text = error instanceof z.ZodError ? (error.issues[0]?.message ?? '') : undefined;
  if (text !== undefined) return { outcome: { tone: 'bad', title: 'Something is missing.', text }, status: 422 };
  const { code, message } = toProblemError(error);
  const { status, title, advice } = PROBLEMS[code];
  if (status >= 500 || status === 404) return undefined;
  return { outcome: { tone: 'bad', title: `${title}.`, text: `Nothing was done. ${message}. ${advice}` }, status };
};
