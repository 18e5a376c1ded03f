// Waiting for a condition.

const timeoutMs = 60_000;

/** Waits until something is true, and fails after a minute. */
export async function until(isTrue: () => Promise<boolean> | boolean, what: string): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!(await isTrue())) {
    if (Date.now() > deadline) {
      throw new Error(`Not within ${timeoutMs} ms: ${what}`);
    }
    await new Promise((wake) => setTimeout(wake, 50));
  }
}
