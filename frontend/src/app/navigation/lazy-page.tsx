import { type ComponentType, use } from "react";

/** A promise with its outcome, so that React's `use` does not wait for a fulfilled one. */
interface TrackedPromise extends Promise<ComponentType> {
  status: "pending" | "fulfilled" | "rejected";
  value?: ComponentType;
  reason?: unknown;
}

function track(promise: Promise<ComponentType>): TrackedPromise {
  const tracked: TrackedPromise = Object.assign(promise, { status: "pending" as const });
  promise.then(
    (value) => {
      tracked.status = "fulfilled";
      tracked.value = value;
    },
    (reason: unknown) => {
      tracked.status = "rejected";
      tracked.reason = reason;
    },
  );
  return tracked;
}

/**
 * The code of a page, loaded when it is first needed. Unlike React's `lazy`, it can be loaded before it is rendered, and
 * a loaded page is rendered immediately, without a fallback in between.
 */
export class PageCode {
  readonly #importPage: () => Promise<ComponentType>;
  #loading: TrackedPromise | null = null;

  constructor(importPage: () => Promise<ComponentType>) {
    this.#importPage = importPage;
  }

  /** Begins to load the code, also once more after a failure. The promise rejects when it cannot be loaded. */
  load(): Promise<ComponentType> {
    if (this.#loading === null || this.#loading.status === "rejected") {
      this.#loading = track(this.#importPage());
    }
    return this.#loading;
  }

  /** For rendering. A failed promise is kept here, because rendering with a new one would load the code again without end. */
  get promise(): Promise<ComponentType> {
    return this.#loading ?? this.load();
  }
}

/** Renders a page, and suspends until its code is loaded. */
export function LazyPage({ code }: { code: PageCode }) {
  const Page = use(code.promise);
  return <Page />;
}
