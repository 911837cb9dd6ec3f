/** Style sheet and scripts of the page, read once, served with their hash in the address so that they can be kept for ever. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const TYPES = {
  'page.css': 'text/css; charset=utf-8',
  'page.js': 'text/javascript; charset=utf-8',
  'signin.js': 'text/javascript; charset=utf-8',
  'icon.svg': 'image/svg+xml',
} as const;
export type AssetName = keyof typeof TYPES;

export interface Asset {
  readonly type: string;
  readonly text: string;
  /** With the hash of the text as its version. */
  readonly href: string;
}

export type Assets = ReadonlyMap<AssetName, Asset>;

const load = (name: AssetName): Asset => {
  const text = readFileSync(join(__dirname, 'assets', name), 'utf8');
  const version = createHash('sha256').update(text).digest('hex').slice(0, 12);
  return { type: TYPES[name], text, href: `/assets/${name}?v=${version}` };
};

const isName = (name: string): name is AssetName => Object.hasOwn(TYPES, name);

let loaded: Assets | undefined;

/** Beside this file, in the sources and in the build alike. */
export const loadAssets = (): Assets =>
  (loaded ??= new Map(
    Object.keys(TYPES)
      .filter(isName)
      .map((name) => [name, load(name)]),
  ));

export const hrefOf = (name: AssetName): string => loadAssets().get(name)?.href ?? '';

export const findAsset = (name: string): Asset | undefined => (isName(name) ? loadAssets().get(name) : undefined);
