import { cn } from "@ui/cn";

/** Placeholder of content that is being loaded; it becomes visible after 100 ms. `className` gives it the content's size. */
export function Skeleton({ className }: { className?: string }) {
  return <span aria-hidden="true" className={cn("skeleton appear-late block", className)} />;
}

const widths = ["w-3/5", "w-2/5", "w-1/2", "w-4/5", "w-1/3"];

/** Placeholder of a list or table. */
export function SkeletonRows({ rows = 8, label = "Loading" }: { rows?: number; label?: string }) {
  return (
    <div role="status" aria-label={label} className="grid gap-3 p-3">
      {Array.from({ length: rows }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: placeholders have no identity.
        <Skeleton key={index} className={cn("h-4", widths[index % widths.length])} />
      ))}
    </div>
  );
}
