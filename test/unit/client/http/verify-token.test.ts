import { createServer } from 'node:http';
import { once } from 'node:events';
import { describe, expect, test } from '@jest/globals';
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { createTokenVerifier, signToken } from '../../../../client/http/auth/verify-token';

const SECRET = 'a-secret-of-the-tests-that-is-long-enough';
const SETTINGS = { secret: SECRET, issuer: 'https://issuer.example', audience: 'holdfast' };
const CALLER = { tenant: 'acme', subject: 'ada', roles: ['viewer', 'support'] };

const inMinutes = (minutes: number): Date => new Date(Date.now() + minutes * 60_000);
const KEY = new TextEncoder().encode(SECRET);

const signed = (claims: Record<string, unknown>, changes: { alg?: string; key?: Uint8Array } = {}): Promise<string> =>
  new SignJWT({ iss: SETTINGS.issuer, aud: SETTINGS.audience, ...claims })
    .setProtectedHeader({ alg: changes.alg ?? 'HS256' })
    .sign(changes.key ?? KEY);

const FUTURE = Math.floor(Date.now() / 1000) + 600;
const CLAIMS = { sub: 'ada', tenant: 'acme', roles: ['viewer'], exp: FUTURE };

describe('with a shared secret', () => {
  const verify = createTokenVerifier(SETTINGS);

  test('a token says who calls, for which tenant, in which roles and until when', async () => {
    const until = inMinutes(5);
    const caller = await verify(await signToken(SETTINGS, CALLER, until));
    expect(caller).toEqual({ ...CALLER, expiresAt: Math.floor(until.getTime() / 1000) * 1000 });
  });

  test('one that has expired is told apart', async () => {
    const token = await signToken(SETTINGS, CALLER, inMinutes(-5));
    await expect(verify(token)).rejects.toMatchObject({ code: 'auth.expired' });
  });

  test.each<[string, () => Promise<string> | string]>([
    ['garbage', () => 'abc'],
    [
      'signed by another key',
      () => signed(CLAIMS, { key: new TextEncoder().encode('another-secret-of-somebody-else-here') }),
    ],
    ['signed with another algorithm', () => signed(CLAIMS, { alg: 'HS512' })],
    ['not signed', () => new UnsecuredJWT({ ...CLAIMS, iss: SETTINGS.issuer, aud: SETTINGS.audience }).encode()],
    ['for another audience', () => signed({ ...CLAIMS, aud: 'other' })],
    ['of another issuer', () => signed({ ...CLAIMS, iss: 'https://other.example' })],
    ['without an end', () => signed({ ...CLAIMS, exp: undefined })],
    ['without a tenant', () => signed({ ...CLAIMS, tenant: undefined })],
    ['with a tenant that is none', () => signed({ ...CLAIMS, tenant: '../acme' })],
    ['without a subject', () => signed({ ...CLAIMS, sub: undefined })],
    ['with roles that are no list', () => signed({ ...CLAIMS, roles: 'operator' })],
    ['not valid yet', () => signed({ ...CLAIMS, nbf: FUTURE })],
  ])('one that is %s is refused, and nothing of it is repeated', async (_, make) => {
    const token = await make();
    const refusal: unknown = await verify(token).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: 'auth.invalid' });
    expect(String(refusal)).not.toContain(token);
  });
});

test('without a secret and a key set, nobody is let in', async () => {
  await expect(createTokenVerifier({})(await signed(CLAIMS))).rejects.toMatchObject({ code: 'auth.invalid' });
});

describe('with a key set', () => {
  const serve = async (keys: readonly object[]): Promise<{ url: string; close: () => void }> => {
    const server = createServer((_, response) => {
      response.setHeader('Content-Type', 'application/json').end(JSON.stringify({ keys }));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    return { url: `http://127.0.0.1:${port}/jwks`, close: () => server.close() };
  };

  test('tokens of its keys are accepted, and development tokens are not', async () => {
    const { publicKey, privateKey } = await generateKeyPair('ES256');
    const server = await serve([{ ...(await exportJWK(publicKey)), kid: 'k1', alg: 'ES256' }]);
    try {
      const verify = createTokenVerifier({ ...SETTINGS, jwksUrl: server.url });
      const token = await new SignJWT({ ...CLAIMS, iss: SETTINGS.issuer, aud: SETTINGS.audience })
        .setProtectedHeader({ alg: 'ES256', kid: 'k1' })
        .sign(privateKey);
      expect(await verify(token)).toMatchObject({ tenant: 'acme', subject: 'ada' });
      await expect(verify(await signed(CLAIMS))).rejects.toMatchObject({ code: 'auth.invalid' });
    } finally {
      server.close();
    }
  });

  test('where it cannot be read, the service says that it is busy and not that the token is wrong', async () => {
    const server = await serve([]);
    server.close();
    const verify = createTokenVerifier({ jwksUrl: server.url });
    const { privateKey } = await generateKeyPair('ES256');
    const token = await new SignJWT(CLAIMS).setProtectedHeader({ alg: 'ES256', kid: 'k1' }).sign(privateKey);
    await expect(verify(token)).rejects.toMatchObject({ code: 'service.busy' });
  });
});
