/** The result of every tool of the benchmark: 500 bytes. */
export const BODY = 'the quick brown fox jumps over the lazy dog. '.repeat(12).slice(0, 500);
