/** `analyse`: a step for thinking only, accepted for an open gap of kind work. A missing fact is read, not thought up. */
import type { z } from 'zod';
import type { analyseSchema } from '../../definition/runtime-tools';
import { fail, pass, type Judgement, type PinnedContext, type Validator } from './judgement';
import { showText } from './show-value';

export interface AnalyseInput {
  readonly context: PinnedContext;
  readonly request: z.output<typeof analyseSchema>;
}

const judge = ({ context: { manifest }, request }: AnalyseInput): Judgement<undefined> => {
  const gap = manifest.gaps.find(({ name }) => name === request.gap);
  if (gap?.kind === 'work') return pass(undefined, { gap: gap.name });
  const work = manifest.gaps.filter(({ kind }) => kind === 'work').map(({ name }) => name);
  const expected = work.length === 0 ? 'another action: no gap of kind work is open' : `one of ${work.join(', ')}`;
  const got = gap === undefined ? 'which is not open' : `of kind ${gap.kind}: ${gap.lacks}`;
  return fail({
    code: gap === undefined ? 'analyse.gap_unknown' : 'analyse.gap_is_no_work',
    error: 'INVALID_ARGUMENT',
    message: `gap: got ${showText(request.gap)}, ${got}; expected ${expected}`,
    field: 'gap',
    value: showText(request.gap),
    expected,
    gaps: manifest.gaps,
  });
};

export const ANALYSE: Validator<AnalyseInput, undefined> = { name: 'analyse', version: '1', judge };
