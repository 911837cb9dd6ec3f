/** What routes share in their declarations. */
import type { z } from 'zod';
import type { Access } from './auth/access';
import { ROLES_FOR } from './auth/access';
import { requireAccess } from './middleware/authenticate';
import { PROBLEM } from './problems/problem';

/** Name of the extension that says who may call a route. */
export const ACCESS = 'x-holdfast-access';

/** Of a route that needs a token with one of the roles for this access. */
export const secured = (access: Access) => ({
  security: [{ bearer: [] }],
  [ACCESS]: access,
  description: `Needs the role ${ROLES_FOR[access].map((role) => `\`${role}\``).join(' or ')}.`,
  middleware: [requireAccess(access)],
});

export const json = <Schema extends z.ZodType>(schema: Schema, description: string) => ({
  description,
  content: { 'application/json': { schema } },
});

export const jsonBody = <Schema extends z.ZodType>(schema: Schema) => ({
  required: true,
  content: { 'application/json': { schema } },
});

/** Everything else that a route may answer. */
export const PROBLEM_RESPONSE = {
  default: {
    description: 'A problem, by its `code`.',
    content: { 'application/problem+json': { schema: PROBLEM } },
  },
} as const;
