/** The browser of this machine. Nothing is downloaded and nothing is skipped: where there is none, the tests fail and say so. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

export const findChromium = (env: Readonly<Record<string, string | undefined>> = process.env): string => {
  const named = env['CHROMIUM_PATH'];
  if (named !== undefined && named !== '') {
    if (isExecutable(named)) return named;
    throw new Error(`CHROMIUM_PATH: got ${JSON.stringify(named)}, expected a program`);
  }
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const found = folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find(isExecutable);
  if (found !== undefined) return found;
  throw new Error(
    `no Chromium was found: CHROMIUM_PATH is not set, and PATH has none of ${NAMES.join(', ')}. ` +
      'On Debian or Ubuntu: `apt-get install chromium`. Elsewhere: install Chromium or Chrome, and set CHROMIUM_PATH to its program.',
  );
};

const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};
