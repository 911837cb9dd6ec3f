/** Somebody who does the task in another way. Undefined: as everybody would. */
import type { Conversation } from './conversation';
import type { Move } from './move';

export type Persona = (conversation: Conversation) => Move | undefined;
