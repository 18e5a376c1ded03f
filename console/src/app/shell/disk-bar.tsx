import { useQuery } from "@tanstack/react-query";
import { HardDrive } from "lucide-react";
import { sessionQuery } from "@/api/session";

/** How often a server with a database of its own is asked whether the disk has room. */
const INTERVAL_MS = 30_000;

/** A bar while the disk of the database has little room. */
export function DiskBar() {
  const { data } = useQuery({
    ...sessionQuery,
    refetchInterval: ({ state }) => (state.data?.mode === "serve" ? INTERVAL_MS : false),
  });
  const warning = data?.disk ?? null;
  if (warning === null) return null;
  return (
    <div
      role="status"
      className="flex min-h-7 shrink-0 items-center justify-center gap-2 border-warning/40 border-b bg-changed px-3 py-1 text-label"
    >
      <HardDrive aria-hidden="true" className="size-3.5 shrink-0 text-warning" />
      <span>
        {warning.charAt(0).toUpperCase()}
        {warning.slice(1)}. Delete stored objects, drop tables, or enlarge the disk.
      </span>
    </div>
  );
}
