/** Server-sent events out of a body: whole frames alone; comments and what a cut connection left are dropped. */
export interface SseFrame {
  readonly event: string;
  readonly data: string;
}

export async function* readFrames(body: ReadableStream<Uint8Array>): AsyncGenerator<SseFrame, void> {
  const decoder = new TextDecoder();
  const reader: ReadableStreamDefaultReader<Uint8Array> = body.getReader();
  let text = '';
  try {
    for (;;) {
      const next = await reader.read().catch(() => undefined);
      if (next === undefined || next.done) return;
      text += decoder.decode(next.value, { stream: true });
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const frame = toFrame(block);
        if (frame !== undefined) yield frame;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

const toFrame = (block: string): SseFrame | undefined => {
  const fields = new Map(block.split('\n').map((line) => splitField(line)));
  const data = fields.get('data');
  return data === undefined ? undefined : { event: fields.get('event') ?? 'message', data };
};

const splitField = (line: string): readonly [string, string] => {
  const colon = line.indexOf(':');
  return colon < 0 ? [line, ''] : [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')];
};
