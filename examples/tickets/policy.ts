/** The example's policies, read from the files beside this module. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const POLICY_ADDITIONS = ['approval', 'guarded', 'separate'] as const;
export type PolicyAddition = (typeof POLICY_ADDITIONS)[number];

/** policy.cedar with what is added to it: a `forbid` always wins over a `permit`. */
export const readPolicy = (additions: readonly PolicyAddition[] = []): string =>
  ['policy.cedar', ...additions.map((name) => join('policies', `${name}.cedar`))]
    .map((file) => readFileSync(join(__dirname, file), 'utf8'))
    .join('\n');
