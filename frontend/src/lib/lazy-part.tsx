// Parts of pages whose code is loaded when it is first needed. A file that cannot be loaded takes its part away and not the page, and
// is loaded again on demand, which React's `lazy` does not do: it keeps the first failure.

import { Button } from "@ui/button";
import { cn } from "@ui/cn";
import { Component, type ComponentType, lazy, type ReactNode } from "react";

/** A promise with its outcome, so that React's `use` does not wait for a fulfilled one. */
interface TrackedPromise<Loaded> extends Promise<Loaded> {
  status: "pending" | "fulfilled" | "rejected";
  value?: Loaded;
  reason?: unknown;
}

function track<Loaded>(promise: Promise<Loaded>): TrackedPromise<Loaded> {
  const tracked: TrackedPromise<Loaded> = Object.assign(promise, { status: "pending" as const });
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

/** Every code that was asked for, so that what has failed can be asked for again. */
const known = new Set<LazyCode<unknown>>();

/** Lets everything that could not be loaded be loaded again by the next rendering. */
export function forgetFailedCode(): void {
  for (const code of known) code.forgetFailure();
}

/**
 * Code that is loaded when it is first needed. Unlike React's `lazy`, it can be loaded before it is rendered, and what is loaded is
 * rendered immediately, without a fallback in between.
 */
export class LazyCode<Loaded> {
  readonly #importCode: () => Promise<Loaded>;
  #loading: TrackedPromise<Loaded> | null = null;

  constructor(importCode: () => Promise<Loaded>) {
    this.#importCode = importCode;
  }

  /** Begins to load the code, also once more after a failure. The promise rejects when it cannot be loaded. */
  load(): Promise<Loaded> {
    if (this.#loading === null || this.#loading.status === "rejected") {
      known.add(this);
      this.#loading = track(this.#importCode());
    }
    return this.#loading;
  }

  /** For rendering. A failed promise is kept here, because rendering with a new one would load the code again without end. */
  get promise(): Promise<Loaded> {
    return this.#loading ?? this.load();
  }

  forgetFailure(): void {
    if (this.#loading?.status === "rejected") this.#loading = null;
  }
}

/** What takes the place of a part that cannot be loaded: a notice in it, one at the edge of the screen, or nothing. */
type Failure = "notice" | "overlay" | "nothing";

interface BoundaryProps {
  failure: Failure;
  /** Whether the code could not be loaded. */
  hasFailed: () => boolean;
  /** Lets the next rendering load the code again. */
  loadAgain: () => void;
  render: () => ReactNode;
}

interface BoundaryState {
  failed: { error: unknown } | null;
}

class PartBoundary extends Component<BoundaryProps, BoundaryState> {
  override state: BoundaryState = { failed: null };

  static getDerivedStateFromError(error: unknown): BoundaryState {
    return { failed: { error } };
  }

  retry = (): void => {
    this.props.loadAgain();
    this.setState({ failed: null });
  };

  override componentDidMount(): void {
    window.addEventListener("online", this.retryWhenOnline);
  }

  override componentWillUnmount(): void {
    window.removeEventListener("online", this.retryWhenOnline);
  }

  retryWhenOnline = (): void => {
    if (this.state.failed !== null) this.retry();
  };

  override render(): ReactNode {
    const { failed } = this.state;
    const { failure, hasFailed, render } = this.props;
    if (failed === null) return render();
    // A part that was loaded and has broken is the page's business.
    if (!hasFailed()) throw failed.error;
    if (failure === "nothing") return null;
    return (
      <div
        role="alert"
        className={cn(
          "flex flex-wrap items-center justify-center gap-x-5 gap-y-3 text-small",
          failure === "overlay"
            ? "fixed inset-x-4 bottom-24 z-50 mx-auto max-w-md rounded-lg border border-line bg-raised p-4 text-ink shadow-raised"
            : "px-6 py-16 text-ink-soft",
        )}
      >
        <p>
          {navigator.onLine
            ? "This could not be loaded."
            : "You are offline. This will be loaded when the network is back."}
        </p>
        <Button onClick={this.retry}>Try again</Button>
      </div>
    );
  }
}

/** A component that is loaded when it is first rendered; it belongs into `<Suspense>`. */
export function lazyPart<Props extends object>(
  importPart: () => Promise<{ default: ComponentType<Props> }>,
  failure: Failure = "notice",
): ComponentType<Props> {
  let hasFailed = false;
  const begin = () =>
    lazy(async () => {
      try {
        return await importPart();
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    });
  let Part = begin();
  function loadAgain() {
    if (!hasFailed) return;
    hasFailed = false;
    Part = begin();
  }
  // biome-ignore lint/correctness/noComponentHookFactories: called once per module, as React's own `lazy` is.
  return function LazyPart(props: Props) {
    return (
      <PartBoundary
        failure={failure}
        hasFailed={() => hasFailed}
        loadAgain={loadAgain}
        render={() => <Part {...props} />}
      />
    );
  };
}
