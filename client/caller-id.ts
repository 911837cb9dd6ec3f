/** Ids that callers choose for what they send, so that sending it again is no second one. */
import { HoldfastError } from './errors';

const CALLER_ID = /^[\x21-\x7e]{1,200}$/;

/** Throws `input.invalid`. */
export const requireCallerId = (field: string, id: string): void => {
  if (CALLER_ID.test(id)) return;
  const got = JSON.stringify(id.slice(0, 100));
  const message = `${field}: got ${got}, expected 1 to 200 printable ASCII characters without spaces`;
  throw new HoldfastError('input.invalid', message, { field });
};
