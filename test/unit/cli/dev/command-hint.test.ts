import { expect, test } from '@jest/globals';
import { resolve } from 'node:path';
import { commandFor } from '../../../../cli/dev/command-hint';

test.each([
  [resolve('.holdfast'), 'npx holdfast'],
  ['/data/one', 'HOLDFAST_DATA_DIR=/data/one npx holdfast'],
  ["/data/it's here", String.raw`HOLDFAST_DATA_DIR='/data/it'\''s here' npx holdfast`],
])('a command for the data in %s names it where it is not the default', (dataDir, command) => {
  expect(commandFor(dataDir)).toBe(command);
});
