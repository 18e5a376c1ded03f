/** Modules in separate script files, loaded when they are needed or shortly before. */
import { useEffect, useState } from "react";

export interface LazyModule<M> {
  /** Returns the module; undefined until its script is loaded. */
  find: () => M | undefined;
  /** Loads the script once. After a failure the next call tries again. */
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

/** Runs a function when the browser is idle. Safari has no `requestIdleCallback`, so there it runs after a short delay. */
export function whenIdle(run: () => void): void {
  if ("requestIdleCallback" in window) window.requestIdleCallback(run, { timeout: 2000 });
  else globalThis.setTimeout(run, 200);
}

/**
 * Returns a module without which the page works, or undefined until its script is loaded. It is loaded now, or when the browser is
 * idle, so that the first paint does not wait for it. A failure is ignored: the next call with `now` tries again.
 */
export function useOptionalModule<M>(module: LazyModule<M>, when: "now" | "idle"): M | undefined {
  const [, setLoaded] = useState(module.find() !== undefined);
  useEffect(() => {
    let isLeft = false;
    const load = () => {
      if (isLeft) return;
      module.load().then(
        () => setLoaded(true),
        () => undefined,
      );
    };
    if (module.find() !== undefined) setLoaded(true);
    else if (when === "now") load();
    else whenIdle(load);
    return () => {
      isLeft = true;
    };
  }, [module, when]);
  return module.find();
}

/** Between attempts to load a script that is needed. */
const retryMs = 2000;

/**
 * Returns a module that is needed over content which must not be lost: a failure is no error, but tried again until the script is
 * there. It is loaded now, or when the browser is idle.
 */
export function useRetriedModule<M>(module: LazyModule<M>, when: "now" | "idle") {
  const found = useOptionalModule(module, when);
  const [failures, setFailures] = useState(0);
  const isMissing = found === undefined && when === "now";
  useEffect(() => {
    if (!isMissing) return;
    const attempt = () =>
      module.load().then(
        () => setFailures(0),
        () => setFailures((before) => before + 1),
      );
    const timer = window.setTimeout(attempt, failures === 0 ? 0 : retryMs);
    return () => window.clearTimeout(timer);
  }, [module, isMissing, failures]);
  return { found: module.find(), hasFailed: isMissing && failures > 0 };
}

/**
 * Returns the module, or undefined while its script is being loaded; throws when loading fails. React's `lazy` is not used, because
 * Suspense shows a placeholder for at least 300 ms, even if the script is loaded sooner.
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
