/** Renders the rules of .dependency-cruiser.cjs, so that the arrows are read where they are enforced. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { z } from 'zod';

const cruiserConfig = z.object({
  forbidden: z.array(z.object({ name: z.string(), comment: z.string(), severity: z.literal('error') })).min(1),
});

const HEAD = `# Architecture rules

Written by \`npm run generate\` from \`.dependency-cruiser.cjs\`; enforced by \`npm run arch\`.

| rule | why |
| --- | --- |
`;

export function renderArchitecture(rootPath: string): string {
  const load = createRequire(join(rootPath, 'package.json'));
  const { forbidden } = cruiserConfig.parse(load('./.dependency-cruiser.cjs'));
  return HEAD + forbidden.map(({ name, comment }) => `| \`${name}\` | ${comment} |\n`).join('');
}
