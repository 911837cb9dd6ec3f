import { lastUserText, text, turn, type Script } from '../../../testing/model-server';

/** A script for the server as a process. */
export const script: Script = (request) => turn([text(`You said: ${lastUserText(request)}`)]);
