/** Scripts that are loaded apart from those of the shell, when they are needed or shortly before. */
import { useEffect, useState } from "react";

export interface LazyModule<M> {
  /** The module if its script has been loaded. */
  find: () => M | undefined;
  /** Loads the script once. A failed attempt is not remembered, so that the next one asks the server again. */
  load: () => Promise<M>;
}

export function lazyModule<M>(importModule: () => Promise<M>): LazyModule<M> {
  let found: M | undefined;
  let attempt: Promise<M> | undefined;
  return {
    find: () => found,
    load() {
      attempt ??= importModule().then(
        (module) => {
          found = module;
          return module;
        },
        (error: unknown) => {
          attempt = undefined;
          throw error;
        },
      );
      return attempt;
    },
  };
}

/**
 * The module, or undefined while its script is being loaded; throws when that fails. React's `lazy` is not used, because
 * Suspense shows what follows a placeholder 300 ms after it at the earliest, however soon the script is there.
 */
export function useLazyModule<M>(module: LazyModule<M>): M | undefined {
  const [load, setLoad] = useState<{ error?: unknown }>({});
  const found = module.find();
  const isMissing = found === undefined;
  useEffect(() => {
    if (!isMissing) return;
    module.load().then(
      () => setLoad({}),
      (error: unknown) => setLoad({ error }),
    );
  }, [module, isMissing]);
  if (load.error !== undefined) throw load.error;
  return found;
}
