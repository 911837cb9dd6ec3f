/** Renders the settings with their descriptions and defaults, from the schema that reads them. */
import { homedir } from 'node:os';
import { z } from 'zod';
import { SETTINGS } from '../config/settings';
import { TEMPORAL_SETTINGS } from '../config/temporal-connection';

interface Setting {
  readonly name: string;
  readonly description: string;
  /** Empty where there is none. */
  readonly byDefault: string;
  /** What it may be, where that is limited. */
  readonly allowed: string;
}

const HEAD = `# Configuration

Written by \`npm run generate\` from \`config/settings.ts\`. A wrong value is named when a program starts; an empty one counts
as absent. \`npx holdfast doctor\` looks at what is set.

| variable | default | what it is |
| --- | --- | --- |
`;

const TEMPORAL_HEAD = `
Where Temporal is, is read by Temporal's own library (its environment configuration), TLS included:

| variable | what it is |
| --- | --- |
`;

export const renderConfiguration = (): string => {
  const rows = listSettings().map(({ name, description, byDefault, allowed }) => {
    const limits = allowed === '' ? '' : ` ${allowed}.`;
    return `| \`${name}\` | ${byDefault === '' ? '' : `\`${byDefault}\``} | ${description}${limits} |\n`;
  });
  const temporal = Object.entries(TEMPORAL_SETTINGS).map(([name, description]) => `| \`${name}\` | ${description} |\n`);
  return HEAD + rows.join('') + TEMPORAL_HEAD + temporal.join('');
};

const ENV_HEAD = `# Written by \`npm run generate\` from config/settings.ts; docs/generated/configuration.md says more.
# Copy it to .env and set what differs: docker compose reads that file; for the command line \`set -a; . ./.env; set +a\`.
`;

export const renderEnvExample = (): string => {
  const settings = listSettings().map(({ name, description, byDefault, allowed }) => {
    const limits = allowed === '' ? '' : ` ${allowed}.`;
    return `\n# ${description}${limits}\n#${name}=${byDefault}\n`;
  });
  const temporal = Object.entries(TEMPORAL_SETTINGS).map(([name, description]) => `\n# ${description}\n#${name}=\n`);
  return ENV_HEAD + settings.join('') + temporal.join('');
};

const PROPERTY = z.object({
  description: z.string(),
  default: z.union([z.string(), z.number()]).optional(),
  enum: z.array(z.string()).optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
});

const listSettings = (): readonly Setting[] => {
  const { properties = {} } = z.toJSONSchema(SETTINGS, { io: 'input' });
  return Object.entries(properties).map(([name, property]) => toSetting(name, PROPERTY.parse(property)));
};

const toSetting = (name: string, property: z.output<typeof PROPERTY>): Setting => ({
  name,
  description: property.description,
  // The home of whoever generates is nobody else's.
  byDefault: String(property.default ?? '').replace(homedir(), '~'),
  allowed: describeAllowed(property),
});

const describeAllowed = ({ enum: values, minimum, maximum }: z.output<typeof PROPERTY>): string => {
  if (values !== undefined) return `One of ${values.join(', ')}`;
  return minimum === undefined || maximum === undefined ? '' : `From ${minimum} to ${maximum}`;
};
