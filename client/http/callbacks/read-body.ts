/** The body of a request, byte for byte, and no more of it than is allowed. */

export type ReadBody =
  { readonly kind: 'read'; readonly bytes: Uint8Array } | { readonly kind: 'tooLarge' } | { readonly kind: 'cut' };

export const readBody = async ({ headers, body }: Request, limitBytes: number): Promise<ReadBody> => {
  if (Number(headers.get('Content-Length') ?? 0) > limitBytes) return { kind: 'tooLarge' };
  if (body === null) return { kind: 'read', bytes: new Uint8Array() };
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    const stream: AsyncIterable<Uint8Array> = body;
    for await (const chunk of stream) {
      size += chunk.byteLength;
      if (size > limitBytes) return { kind: 'tooLarge' };
      chunks.push(chunk);
    }
  } catch {
    // Whoever sent it is gone.
    return { kind: 'cut' };
  }
  return { kind: 'read', bytes: Buffer.concat(chunks) };
};
