import { onlineManager } from "@tanstack/react-query";
import { WifiOff } from "lucide-react";
import { useSyncExternalStore } from "react";

/** Tells while the browser has no network. The query cache refetches by itself when it is back. */
export function OfflineBanner() {
  const isOnline = useSyncExternalStore(
    (listener) => onlineManager.subscribe(listener),
    () => onlineManager.isOnline(),
  );
  // The live region exists before its text, or screen readers would not announce it. Nothing that is pressed lies below it: on phones it
  // is one word between the wordmark and the buttons of the header, elsewhere it is at the lower edge.
  return (
    <div
      role="status"
      className="pointer-events-none fixed top-3.5 left-29 z-[60] flex md:inset-x-4 md:top-auto md:bottom-4 md:justify-center"
    >
      {!isOnline && (
        <p className="inline-flex items-center gap-2.5 rounded-full bg-ink px-2.5 py-1 text-canvas text-small shadow-raised md:px-5 md:py-2.5">
          <WifiOff aria-hidden="true" className="size-4 max-md:hidden" strokeWidth={1.6} />
          <span className="max-md:sr-only">You are offline. What you see may be out of date.</span>
          <span aria-hidden="true" className="md:hidden">
            Offline
          </span>
        </p>
      )}
    </div>
  );
}
