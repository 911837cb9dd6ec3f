/** Who may use the page of a development stack: whoever has the link that is printed when it starts. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { signToken } from '../../client/http/auth/verify-token';
import { keepSecret } from './keep-secret';

const SECRET_BYTES = 32;
const TOKEN_HOURS = 12;
/** Who uses a development stack. */
export const DEVELOPER = { tenant: 'default', subject: 'developer', roles: ['viewer', 'approver', 'operator'] };

/** In base64. Kept, so that a browser that was signed in stays so when the stack is started again. */
export const keepTokenSecret = (directory: string): string =>
  keepSecret(join(directory, 'bearer.secret'), () => randomBytes(SECRET_BYTES).toString('base64'));

/** For the service: the developer's tokens are trusted, and no issuer's. */
export const tokenVariables = (secret: string): Readonly<Record<string, string | undefined>> => ({
  HOLDFAST_JWT_SECRET: secret,
  HOLDFAST_JWKS_URL: undefined,
  HOLDFAST_JWT_ISSUER: undefined,
  HOLDFAST_JWT_AUDIENCE: undefined,
});

export const makeToken = (secret: string): Promise<string> =>
  signToken({ secret }, DEVELOPER, new Date(Date.now() + TOKEN_HOURS * 3_600_000));

/** Opens the inbox signed in. The token stands behind `#`, which browsers send nowhere. */
export const pageLink = (serviceUrl: string, token: string): string => `${serviceUrl}/signin#token=${token}`;
