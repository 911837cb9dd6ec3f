/** The version of the package that this program belongs to. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';

const MANIFEST = z.object({ name: z.literal('holdfast'), version: z.string() });

/** The nearest package.json above is ours, in the source tree and in the build alike. */
export const readVersion = (directory: string = __dirname): string => {
  try {
    return MANIFEST.parse(JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))).version;
  } catch (error) {
    if (directory === dirname(directory)) throw error;
    return readVersion(dirname(directory));
  }
};
