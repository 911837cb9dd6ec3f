/** docs/generated/openapi.json and docs/problems.md: the HTTP interface as its routes declare it, and every problem by its code. */
import { createApp } from '../client/http/app';
import { CALLBACK_REFUSALS } from '../client/http/callbacks/callback-problem';
import { describeApi } from '../client/http/describe-api';
import { describeOnly } from '../client/http/describe-only';
import { PROBLEMS } from '../client/http/problems/catalogue';

export const renderOpenApi = (): string =>
  `${JSON.stringify(sorted(describeApi(createApp(describeOnly()))), undefined, 2)}\n`;

/** Components are in the order in which routes are added; by name, a new route moves nothing else. */
const sorted = (document: ReturnType<typeof describeApi>): object => ({
  ...document,
  components: {
    ...document.components,
    schemas: Object.fromEntries(
      Object.entries(document.components?.schemas ?? {}).sort(([one], [other]) => (one < other ? -1 : 1)),
    ),
  },
});

const INTRODUCTION = `# Problems, by code

Written by \`npm run generate\` from the service's own catalogue. A refusal of the HTTP interface is an RFC 9457 problem
(\`application/problem+json\`): \`type\` is \`urn:holdfast:problem:\` and the code, \`status\` and \`title\` are those below,
\`detail\` names field, value and expectation, \`field\` the one value at fault, \`errors\` all of them, and \`instance\` is the id
under which the log has it. A code never changes its meaning; texts may. Both clients throw \`HoldfastError\` with the same code.`;

const FOR_CALLBACKS = `## Callbacks

What a sender of callbacks is told (\`POST /v1/callbacks/{operation}\`). Except for 503 and 500, sending the same again changes
nothing.`;

export const renderProblems = (): string => {
  const rows = Object.entries(PROBLEMS)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([code, { status, title, advice }]) => `| \`${code}\` | ${String(status)} | ${title} | ${advice} |`);
  const callbacks = Object.entries(CALLBACK_REFUSALS).map(
    ([code, { status, title }]) => `| \`${code}\` | ${String(status)} | ${title} |`,
  );
  return [
    INTRODUCTION,
    ['| code | status | what happened | what to do |', '| --- | --- | --- | --- |', ...rows].join('\n'),
    FOR_CALLBACKS,
    ['| code | status | what happened |', '| --- | --- | --- |', ...callbacks].join('\n'),
  ]
    .join('\n\n')
    .concat('\n');
};
