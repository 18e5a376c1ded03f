import { cn } from "@ui/cn";

/** Animated placeholder of loading content. `className` gives it the size of that content. */
export function Skeleton({ className }: { className?: string }) {
  return <span aria-hidden="true" className={cn("skeleton block", className)} />;
}
