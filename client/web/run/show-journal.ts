/** A line of the journal without what nobody can see; its ids and names may come from outside. */
import { showInvisibleIn } from '../../../responses/show-invisible';
import { isJsonObject } from '../../../definition/storable-json';
import type { EventView } from '../../schemas/event';

export const showJournal = (event: EventView): EventView => {
  const body = showInvisibleIn(event.body);
  return isJsonObject(body) ? { ...event, body: parseBody(body) } : event;
};

const parseBody = (body: object): EventView['body'] => body as EventView['body'];
