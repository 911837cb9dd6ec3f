/** Frames of a stream of events as a client sees them. */
export interface Frame {
  readonly id?: string;
  readonly event?: string;
  readonly data?: unknown;
}

export const parseFrames = (text: string): readonly Frame[] =>
  text
    .split('\n\n')
    .filter((block) => block !== '' && !block.startsWith(':') && !block.startsWith('retry:'))
    .map((block) => {
      const fields = Object.fromEntries(
        block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
      );
      const { id, event, data } = fields;
      return {
        ...(id === undefined ? {} : { id }),
        ...(event === undefined ? {} : { event }),
        ...(data === undefined ? {} : { data: JSON.parse(data) as unknown }),
      };
    });

/** Reads frames until one of them is enough, or the stream ends; then lets go of the stream. */
export const readFrames = async (
  response: Response,
  isEnough: (frame: Frame) => boolean = () => false,
): Promise<readonly Frame[]> => {
  if (response.body === null) return [];
  const reader: ReadableStreamDefaultReader<Uint8Array> = response.body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (value !== undefined) text += decoder.decode(value, { stream: true });
    const frames = parseFrames(text.slice(0, text.lastIndexOf('\n\n') + 2));
    const enough = frames.findIndex(isEnough);
    if (enough >= 0) {
      await reader.cancel();
      return frames.slice(0, enough + 1);
    }
    if (done) return frames;
  }
};
