import { resolve } from 'node:path';
import { DEFAULT_DATA_DIR } from '../../config/settings';

/** How to call this program for this data directory, to be copied from the screen: commands find the stack by it. */
export const commandFor = (dataDir: string): string =>
  dataDir === resolve(DEFAULT_DATA_DIR) ? 'npx holdfast' : `HOLDFAST_DATA_DIR=${quote(dataDir)} npx holdfast`;

const quote = (word: string): string =>
  /^[\w./:@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
