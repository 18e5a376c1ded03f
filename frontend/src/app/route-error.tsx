import { Button } from "@ui/button";
import { useEffect, useState } from "react";
import { paths } from "@/lib/paths";
import { pageTitle } from "@/lib/product";

/** Why a page cannot be shown. */
type Reason = "broken" | "offline" | "unreachable" | "new-version";

const explanations: Record<Reason, { title: string; text: string }> = {
  broken: {
    title: "Something broke on this page.",
    text: "It is our fault. What you saved is safe; loading the page again usually helps.",
  },
  offline: {
    title: "You are offline.",
    text: "This page will be loaded when the network is back. Nothing of yours is lost.",
  },
  unreachable: {
    title: "This page could not be loaded.",
    text: "A part of it did not arrive. Nothing of yours is lost; please try again.",
  },
  "new-version": {
    title: "There is a new version of this site.",
    text: "Load the page again to get it. Nothing of yours is lost.",
  },
};

/** Whether a file of the page could not be loaded: the words of Chromium, Firefox and Safari. */
function isFailedImport(error: unknown): boolean {
  return (
    error instanceof TypeError &&
    /dynamically imported module|importing a module/i.test(error.message)
  );
}

/** Whether the server has another build than the one that this page was loaded with: its page names other scripts. */
async function isOutdated(): Promise<boolean> {
  const response = await fetch(paths.explore, { cache: "no-store" });
  if (!response.ok) return false;
  const html = await response.text();
  const scripts = [...document.querySelectorAll<HTMLScriptElement>('script[type="module"][src]')];
  return scripts.some(({ src }) => !html.includes(new URL(src).pathname));
}

function useReason(error: unknown): Reason {
  const isImport = isFailedImport(error);
  const [reason, setReason] = useState<Reason>(() =>
    isImport ? (navigator.onLine ? "unreachable" : "offline") : "broken",
  );
  useEffect(() => {
    if (!isImport || !navigator.onLine) return;
    let isOver = false;
    isOutdated().then(
      (is) => {
        if (is && !isOver) setReason("new-version");
      },
      // Without an answer nothing is known about versions.
      () => undefined,
    );
    return () => {
      isOver = true;
    };
  }, [isImport]);
  return reason;
}

interface RouteErrorProps {
  error: unknown;
  /** Shows the page again, and loads what is missing. */
  onRetry: () => void;
}

/** Shown in place of a page that failed. */
export function RouteError({ error, onRetry }: RouteErrorProps) {
  const reason = useReason(error);
  const { title, text } = explanations[reason];
  const canRetry = reason === "offline" || reason === "unreachable";
  useEffect(() => {
    if (!canRetry) return;
    window.addEventListener("online", onRetry);
    return () => window.removeEventListener("online", onRetry);
  }, [canRetry, onRetry]);
  return (
    <div
      role="alert"
      className="mx-auto flex min-h-[70dvh] max-w-md flex-col items-center justify-center gap-4 px-6 text-center text-ink"
    >
      <title>{pageTitle(title)}</title>
      <h1 className="font-serif text-title">{title}</h1>
      <p className="text-ink-soft">{text}</p>
      <div className="mt-3 flex flex-wrap justify-center gap-3">
        <Button variant="primary" onClick={canRetry ? onRetry : () => window.location.reload()}>
          {canRetry ? "Try again" : "Load again"}
        </Button>
        <Button asChild>
          {/* Not a <Link>: a full page load also resets broken state in memory. */}
          <a href={paths.explore}>Go Home</a>
        </Button>
      </div>
    </div>
  );
}
