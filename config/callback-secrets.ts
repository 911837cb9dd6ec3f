/** `whsec_` secrets as Standard Webhooks writes them, separated by commas: the keys themselves, 24 to 64 bytes each. */
import { z } from 'zod';

const FORM = 'whsec_ and the base64 of 24 to 64 bytes';
const SECRET = /^whsec_([A-Za-z0-9+/]+={0,2})$/;

export const CALLBACK_SECRETS = z.string().transform((value, context): readonly Uint8Array[] =>
  value.split(',').map((each, index) => {
    const secret = decodeSecret(each.trim());
    if (secret !== undefined) return secret;
    context.addIssue({ code: 'custom', message: `number ${String(index + 1)}: expected ${FORM}` });
    return new Uint8Array();
  }),
);

const decodeSecret = (text: string): Uint8Array | undefined => {
  const bytes = Buffer.from(SECRET.exec(text)?.[1] ?? '', 'base64');
  return bytes.length >= 24 && bytes.length <= 64 ? bytes : undefined;
};
