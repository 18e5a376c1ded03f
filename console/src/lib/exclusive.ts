/** Runs one task of a name at a time among all tabs of this browser. Where the browser has no locks, it runs at once. */
export async function runExclusively<T>(name: string, run: () => Promise<T>): Promise<T> {
  const locks: LockManager | undefined = navigator.locks;
  if (locks === undefined) return run();
  return await locks.request(name, run);
}
