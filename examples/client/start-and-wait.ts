/**
 * Starts a run at a service (`holdfast serve`), tells how it goes, and prints its result as JSON. The key makes it one run
 * however often this is called: called again it follows, or reads, the same one. Exit code 1 where it did not succeed.
 *
 *   HOLDFAST_URL=http://127.0.0.1:8080 HOLDFAST_TOKEN=… node dist/examples/client/start-and-wait.js T100
 */
import { createHttpClient } from '../../client';

// eslint-disable-next-line no-restricted-syntax -- a script of a user's own, outside of config/
const { HOLDFAST_URL: baseUrl = '', HOLDFAST_TOKEN: token = '' } = process.env;
const [, , ticket = 'T100'] = process.argv;

const main = async (): Promise<void> => {
  const client = createHttpClient({ baseUrl, token });
  const { run } = await client.start(
    { agent: 'tickets', goal: `Give ticket ${ticket} to the right team, and explain why.`, data: { ticket } },
    { idempotencyKey: `start-and-wait:${ticket}` },
  );
  console.error(run);
  for await (const item of client.follow(run)) {
    if (item.kind !== 'event' || item.event.kind !== 'machine') continue;
    const { from, to, rule } = item.event.body;
    console.error(`${String(item.event.position)}  ${word(from)} → ${word(to)}  (${word(rule)})`);
  }
  const result = await client.result(run);
  console.log(JSON.stringify(result, undefined, 2));
  if (result?.terminal !== 'SUCCEEDED') process.exitCode = 1;
};

const word = (value: unknown): string => (typeof value === 'string' ? value : '?');

main().catch((error: unknown) => {
  console.error(String(error));
  process.exitCode = 1;
});
