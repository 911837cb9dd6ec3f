const BYTES_PER_TOKEN = 4;

/**
 * The offline token count: UTF-8 bytes divided by four, rounded up. It is no tokenizer; it is the same on every
 * machine, grows with the text and never disagrees with itself, which is all that accounts and limits need.
 */
export function tokensOfBytes(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

export function bytesOfTokens(tokens: number): number {
  return tokens * BYTES_PER_TOKEN;
}

export function bytesOfText(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}

/** Input tokens: the parts of a request that the model reads, as JSON. */
export function promptTokens(parts: { readonly system: unknown; readonly tools: unknown; readonly messages: unknown }) {
  const bytes = [parts.system, parts.tools, parts.messages]
    .filter((part) => part !== undefined)
    .reduce<number>((sum, part) => sum + bytesOfText(JSON.stringify(part)), 0);
  return tokensOfBytes(bytes);
}
