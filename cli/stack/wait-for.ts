const POLL_MS = 20;

/** Polls a cheap condition; false when it did not hold within the limit. */
export async function waitFor(condition: () => boolean | Promise<boolean>, limitMs: number): Promise<boolean> {
  const end = performance.now() + limitMs;
  for (;;) {
    if (await condition()) return true;
    if (performance.now() >= end) return false;
    await pause(POLL_MS);
  }
}

function pause(durationMs: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, durationMs);
  });
}
