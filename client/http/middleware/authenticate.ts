/** Who calls. Whatever is below needs a token, also where there is nothing. */
import type { MiddlewareHandler } from 'hono';
import { createDirectClient } from '../../direct/direct-client';
import { isAllowed, ROLES_FOR, type Access } from '../auth/access';
import type { VerifiedCaller } from '../auth/verify-token';
import { ProblemError } from '../problems/problem';
import type { AppEnv } from '../service';

const BEARER = /^Bearer +([\w~+/.-]+=*) *$/i;
const MAX_TOKEN_LENGTH = 8_192;

export const authenticate: MiddlewareHandler<AppEnv> = async (c, next) => {
  const { verifyToken, parts } = c.get('service');
  const header = c.req.header('Authorization');
  if (header === undefined) throw new ProblemError('auth.missing', 'Authorization: got nothing, expected a token');
  const token = header.length > MAX_TOKEN_LENGTH ? undefined : BEARER.exec(header)?.[1];
  if (token === undefined) throw new ProblemError('auth.invalid', 'Authorization: expected `Bearer` and a token');
  const caller = await verifyToken(token);
  c.set('caller', caller);
  c.set('client', createDirectClient(parts, caller));
  await next();
};

/** Before the request is looked at, so that who may not do it learns nothing of what it would do. */
export const requireAccess =
  (access: Access): MiddlewareHandler<AppEnv> =>
  async (c, next) => {
    requireRole(c.get('caller'), access);
    await next();
  };

export const requireRole = ({ roles }: VerifiedCaller, access: Access): void => {
  if (isAllowed(access, roles)) return;
  const expected = ROLES_FOR[access].map((role) => `\`${role}\``).join(' or ');
  throw new ProblemError('auth.forbidden', `roles: got none of those that may do this, expected ${expected}`);
};
