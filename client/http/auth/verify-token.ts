/** Bearer tokens: who calls, for which tenant, in which roles. HS256 with a shared secret, or any key that a JWKS names. */
import { createRemoteJWKSet, errors, jwtVerify, SignJWT, type JWTPayload, type JWTVerifyOptions } from 'jose';
import { z } from 'zod';
import { parseTenantId } from '../../../workflows/contract/ids';
import type { Caller } from '../../start-request';
import { ProblemError } from '../problems/problem';

export interface TokenSettings {
  /** For development: tokens are signed with it. At least 32 characters. */
  readonly secret?: string;
  /** For production: where the issuer publishes its keys. */
  readonly jwksUrl?: string;
  readonly issuer?: string;
  readonly audience?: string;
}

export interface VerifiedCaller extends Required<Caller> {
  /** When the token ends, ms since the epoch. */
  readonly expiresAt: number;
}

/** Throws ProblemError `auth.invalid` or `auth.expired`. */
export type VerifyToken = (token: string) => Promise<VerifiedCaller>;

const CLAIMS = z.object({
  sub: z.string().min(1).max(200),
  tenant: z.string(),
  roles: z.array(z.string().min(1).max(100)).max(50).default([]),
  exp: z.number(),
});

const SKEW_SECONDS = 5;
const ASYMMETRIC = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];

/** With a JWKS the secret is not accepted any more: a development token never opens a production service. */
export const createTokenVerifier = (settings: TokenSettings): VerifyToken => {
  const check = createCheck(settings);
  return async (token) => toCaller(await verified(check, token));
};

type Check = (token: string, options: JWTVerifyOptions) => Promise<JWTPayload>;

const createCheck = ({
  secret,
  jwksUrl,
  issuer,
  audience,
}: TokenSettings): ((token: string) => Promise<JWTPayload>) => {
  const check = jwksUrl === undefined ? bySecret(secret) : byKeySet(jwksUrl);
  const options: JWTVerifyOptions = {
    clockTolerance: SKEW_SECONDS,
    requiredClaims: ['sub', 'exp', 'tenant'],
    ...(issuer === undefined ? {} : { issuer }),
    ...(audience === undefined ? {} : { audience }),
  };
  return (token) => check(token, options);
};

const bySecret = (secret: string | undefined): Check => {
  if (secret === undefined) {
    return () => Promise.reject(new ProblemError('auth.invalid', 'token: this service trusts no issuer'));
  }
  const key = new TextEncoder().encode(secret);
  return async (token, options) => (await jwtVerify(token, key, { ...options, algorithms: ['HS256'] })).payload;
};

const byKeySet = (url: string): Check => {
  const keys = createRemoteJWKSet(new URL(url), { timeoutDuration: 5_000, cooldownDuration: 10_000 });
  return async (token, options) => (await jwtVerify(token, keys, { ...options, algorithms: ASYMMETRIC })).payload;
};

const verified = async (check: (token: string) => Promise<JWTPayload>, token: string): Promise<JWTPayload> => {
  try {
    return await check(token);
  } catch (error) {
    throw toRefusal(error);
  }
};

/** Nothing of the token is repeated in what is said about it. */
const toRefusal = (error: unknown): ProblemError => {
  if (error instanceof ProblemError) return error;
  if (error instanceof errors.JWTExpired) return new ProblemError('auth.expired', 'token: its time is over');
  if (error instanceof errors.JWKSTimeout || !(error instanceof errors.JOSEError)) {
    return new ProblemError('service.busy', "token: the issuer's keys could not be read", { cause: error });
  }
  return new ProblemError('auth.invalid', `token: got one that cannot be accepted (${error.code})`);
};

const toCaller = (payload: JWTPayload): VerifiedCaller => {
  const parsed = CLAIMS.safeParse(payload);
  const tenant = parsed.success ? asTenant(parsed.data.tenant) : undefined;
  if (!parsed.success || tenant === undefined) {
    const claim = parsed.success ? 'tenant' : String(parsed.error.issues[0]?.path[0] ?? '');
    throw new ProblemError('auth.invalid', `token: its claim ${claim} is not as expected`);
  }
  const { sub, roles, exp } = parsed.data;
  return { tenant, subject: sub, roles, expiresAt: exp * 1000 };
};

const asTenant = (tenant: string): string | undefined => {
  try {
    return parseTenantId(tenant);
  } catch {
    return undefined;
  }
};

/** A token for development and tests, signed with the shared secret. */
export const signToken = (
  settings: TokenSettings & { readonly secret: string },
  caller: Required<Caller>,
  expiresAt: Date,
): Promise<string> => {
  const token = new SignJWT({ tenant: caller.tenant, roles: [...caller.roles] })
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject(caller.subject)
    .setIssuedAt()
    .setExpirationTime(expiresAt);
  if (settings.issuer !== undefined) token.setIssuer(settings.issuer);
  if (settings.audience !== undefined) token.setAudience(settings.audience);
  return token.sign(new TextEncoder().encode(settings.secret));
};
