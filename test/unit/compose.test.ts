import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { Ajv, type ValidateFunction } from 'ajv';
import { parse } from 'yaml';
import { z } from 'zod';
import { loadSettings, SETTINGS } from '../../config/settings';

const ROOT_PATH = join(__dirname, '../..');
const read = (path: string): string => readFileSync(join(ROOT_PATH, path), 'utf8');

const serviceSchema = z.object({
  image: z.string(),
  build: z.object({ context: z.string(), target: z.string() }).optional(),
  command: z.array(z.string()).optional(),
  environment: z.record(z.string(), z.string()).default({}),
  depends_on: z.record(z.string(), z.object({ condition: z.string() })).default({}),
  healthcheck: z.unknown().optional(),
  ports: z.array(z.string()).default([]),
  volumes: z.array(z.string()).default([]),
});
const composeSchema = z.object({
  services: z.record(z.string(), serviceSchema),
  volumes: z.record(z.string(), z.unknown()),
});

const document: unknown = parse(read('docker-compose.yml'), { merge: true });
const compose = composeSchema.parse(document);
const services = Object.entries(compose.services);
const buildTargets = [...read('Dockerfile').matchAll(/^FROM \S+ AS (\S+)$/gm)].map(([, name]) => name);

function compileComposeSpec(): ValidateFunction {
  const schema = z
    .record(z.string(), z.unknown())
    .parse(JSON.parse(read('test/fixtures/compose-spec/compose-spec.json')));
  // The schema names its dialect by an address that ajv does not know; it is draft 7, which is ajv's default.
  const { $schema: dialect, ...body } = schema;
  expect(dialect).toBe('https://json-schema.org/draft-07/schema');
  // Its formats (duration, ports) are the specification's own and have no definition in JSON schema.
  return new Ajv({ strict: false, validateFormats: false, allErrors: true }).compile(body);
}

test('the compose file is valid under the Compose Specification', () => {
  const validate = compileComposeSpec();

  validate(document);

  expect(validate.errors ?? []).toEqual([]);
});

test('the validation refuses a misspelt key', () => {
  const validate = compileComposeSpec();

  const isValid = validate({ services: { worker: { image: 'holdfast:0.1.0', depend_on: ['db'] } } });

  expect(isValid).toBe(false);
});

test('every image is pinned to a version', () => {
  const unpinned = services.filter(([, { image }]) => !/:\d+\.\d+(\.\d+)?(-[a-z]+)?$/.test(image));

  expect(unpinned).toEqual([]);
});

test('services wait only for services that exist, and for health only where there is a health check', () => {
  const waits = services.flatMap(([name, service]) =>
    Object.entries(service.depends_on).map(([dependency, { condition }]) => ({ name, dependency, condition })),
  );
  const unmet = waits.filter(({ dependency, condition }) => {
    const target = compose.services[dependency];
    return target === undefined || (condition === 'service_healthy' && target.healthcheck === undefined);
  });

  expect(waits.length).toBeGreaterThan(services.length / 2);
  expect(unmet).toEqual([]);
});

test('every published port is on loopback, and every volume is declared', () => {
  const ports = services.flatMap(([, service]) => service.ports);
  const volumes = services.flatMap(([, service]) => service.volumes.map((volume) => volume.split(':')[0]));

  expect(ports.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
  // A folder of the host is mounted by its path; everything else is a named volume.
  const named = volumes.filter((volume) => volume?.startsWith('./') !== true);
  expect(named.sort()).toEqual(Object.keys(compose.volumes).sort());
});

test('what Holdfast runs itself is built from a stage of the Dockerfile', () => {
  const own = services.filter(([, service]) => service.image.startsWith('holdfast:'));

  expect(own.map(([name]) => name)).toEqual(['holdfast-migrate', 'worker', 'service']);
  for (const [, service] of own) expect(buildTargets).toContain(service.build?.target);
});

describe('the settings that each of them is given', () => {
  const environmentOf = (name: string): Readonly<Record<string, string>> => compose.services[name]?.environment ?? {};
  /** As compose fills them in where nothing is set. */
  const byDefault = (environment: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(
      Object.entries(environment).map(([name, value]) => [name, value.replace(/\$\{[A-Z_]+:-([^}]*)\}/g, '$1')]),
    );
  const BOTH = ['DATABASE_URL', 'TEMPORAL_ADDRESS', 'HOLDFAST_AGENTS', 'HOLDFAST_TOKEN_KEY'];

  test.each([
    ['worker', [...BOTH, 'ANTHROPIC_API_KEY', 'HOLDFAST_CALLBACK_BASE_URL', 'HOLDFAST_WORKER_METRICS_ADDRESS']],
    [
      'service',
      [
        ...BOTH,
        'HOLDFAST_JWKS_URL',
        'HOLDFAST_JWT_ISSUER',
        'HOLDFAST_JWT_AUDIENCE',
        'HOLDFAST_JWT_SECRET',
        'HOLDFAST_CALLBACK_SECRETS',
      ],
    ],
  ])('%s has all that it wants', (name, wanted) => {
    expect(Object.keys(environmentOf(name))).toEqual(expect.arrayContaining(wanted));
  });

  test.each(['holdfast-migrate', 'worker', 'service'])(
    '%s is given none that there is not, and none that is wrong',
    (name) => {
      const environment = environmentOf(name);
      const own = Object.keys(environment).filter((each) => each.startsWith('HOLDFAST_'));

      expect(own.filter((each) => !Object.keys(SETTINGS.shape).includes(each))).toEqual([]);
      expect(() => loadSettings(byDefault(environment))).not.toThrow();
    },
  );

  test('the service listens where its port is published and its health is asked', () => {
    const { host, port } = loadSettings(byDefault(environmentOf('service')));

    expect(host).toBe('0.0.0.0');
    expect(compose.services['service']?.ports).toEqual([`127.0.0.1:${String(port)}:${String(port)}`]);
    expect(JSON.stringify(compose.services['service']?.healthcheck)).toContain(`127.0.0.1:${String(port)}/readyz`);
  });

  test('both read the agents that are mounted', () => {
    for (const name of ['worker', 'service']) {
      expect(compose.services[name]?.volumes).toEqual([
        expect.stringContaining(environmentOf(name)['HOLDFAST_AGENTS'] ?? '-'),
      ]);
    }
  });
});
