/** Values in messages to people: short, and with nothing in them that a reader cannot see. */
import { takeStart } from '../definition/well-formed';
import type { Json } from '../workflows/contract/json';
import { showInvisible } from './show-invisible';

const MAX_SHOWN = 200;

export const showJson = (value: Json): string => showText(JSON.stringify(value));

/** Says that it is cut where it is. */
export const showText = (text: string): string =>
  showInvisible(text.length <= MAX_SHOWN ? text : `${takeStart(text, MAX_SHOWN)}… (${text.length} characters)`);
