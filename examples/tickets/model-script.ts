/**
 * The model of the tickets example while nobody pays for a real one: the offline model server loads it. A pure function of
 * the request; who it plays is named by the task's data (`persona`), by default somebody who does the task well.
 */
import { ScriptError, type Script } from '../../testing';
import { toTurn } from './model/move';
import { parseConversation } from './model/parse-conversation';
import { PERSONAS } from './model/personas';
import { plan } from './model/plan';

export const createScript = (): Script => (request) => {
  const conversation = parseConversation(request);
  return toTurn(findPersona(conversation.data['persona'])(conversation) ?? plan(conversation));
};

const findPersona = (name: unknown) => {
  if (name === undefined) return () => undefined;
  const persona = typeof name === 'string' ? PERSONAS.get(name) : undefined;
  if (persona !== undefined) return persona;
  throw new ScriptError(
    `data.persona: got ${JSON.stringify(name)}, expected one of ${[...PERSONAS.keys()].join(', ')}`,
  );
};
