import type { ServerEvent } from './events';

/** The bytes of one event on the wire. JSON holds no line break, so one `data` line is enough. */
export function encodeEvent(event: ServerEvent): string {
  return `event: ${event.name}\ndata: ${JSON.stringify(event.data)}\n\n`;
}
