import { cn } from "./cn";

export function Spinner({ size = "md" }: { size?: "sm" | "md" }) {
  return (
    <span
      aria-hidden="true"
      className={cn(
        "inline-block animate-spin rounded-full border-2 border-current border-t-transparent opacity-80",
        size === "sm" ? "size-4" : "size-5",
      )}
    />
  );
}

/** Placeholder of a whole page or panel that is loading. */
export function LoadingPage({ label = "Loading..." }: { label?: string }) {
  return (
    <div
      role="status"
      className="flex min-h-[60dvh] items-center justify-center gap-3 text-ink-soft"
    >
      <Spinner />
      <span className="text-small">{label}</span>
    </div>
  );
}
