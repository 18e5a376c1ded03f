import { onlineManager } from "@tanstack/react-query";
import { WifiOff } from "lucide-react";
import { useSyncExternalStore } from "react";

/** Tells while the browser has no network. The query cache refetches by itself when it is back. */
export function OfflineBanner() {
  const isOnline = useSyncExternalStore(
    (listener) => onlineManager.subscribe(listener),
    () => onlineManager.isOnline(),
  );
  // The live region exists before its text, or screen readers would not announce it.
  return (
    <div
      role="status"
      className="pointer-events-none fixed inset-x-4 top-3 z-[60] flex justify-center"
    >
      {!isOnline && (
        <p className="inline-flex items-center gap-2.5 rounded-full bg-ink px-5 py-2.5 text-canvas text-small shadow-raised">
          <WifiOff aria-hidden="true" className="size-4" strokeWidth={1.6} />
          You are offline. What you see may be out of date.
        </p>
      )}
    </div>
  );
}
