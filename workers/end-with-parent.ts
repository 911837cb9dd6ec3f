/** A process that was started with `--exit-with-parent` ends when its standard input closes: its parent is gone. */
export const endWithParent = (end: () => void): void => {
  if (!process.argv.includes('--exit-with-parent')) return;
  process.stdin.resume();
  process.stdin.once('end', end);
  process.stdin.once('error', end);
};
