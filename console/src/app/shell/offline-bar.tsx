import { useQuery } from "@tanstack/react-query";
import { Unplug } from "lucide-react";
import { useEffect, useState } from "react";
import { catalogQuery } from "@/api/catalog";
import { ApiError, isTemporary, isUnreachable } from "@/api/error";
import { formatAge } from "@/lib/format";

/**
 * A bar while the server or its database is away, with the age of what is shown. The catalog is asked every second, so the bar
 * appears and goes by itself.
 */
export function OfflineBar() {
  const { error, dataUpdatedAt, errorUpdateCount, isError, failureCount, failureReason } = useQuery(
    {
      ...catalogQuery,
      retry: false,
    },
  );
  const cause = isError ? error : failureReason;
  const isAway = (isError || failureCount > 0) && isTemporary(cause);
  const [now, setNow] = useState(Date.now);
  // biome-ignore lint/correctness/useExhaustiveDependencies: every failed attempt updates the age.
  useEffect(() => setNow(Date.now()), [errorUpdateCount, isAway]);
  if (!isAway) return null;
  const text = isUnreachable(cause)
    ? "The server cannot be reached."
    : `The server answers that it is unavailable${cause instanceof ApiError ? ` (${cause.code})` : ""}.`;
  return (
    <div
      role="status"
      className="flex min-h-7 shrink-0 items-center justify-center gap-2 border-warning/40 border-b bg-changed px-3 py-1 text-label"
    >
      <Unplug aria-hidden="true" className="size-3.5 shrink-0 text-warning" />
      <span>
        {text}
        {dataUpdatedAt > 0 && ` What you see is ${formatAge(dataUpdatedAt, now)} old.`} Staged edits
        and typed text are kept; the connection is tried every second.
      </span>
    </div>
  );
}
