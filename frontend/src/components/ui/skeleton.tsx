import { cn } from "@/lib/cn";

/** The shape of what comes. Its size is given by the caller, who knows it. */
export function Skeleton({ className }: { className?: string }) {
  return <span aria-hidden="true" className={cn("skeleton block", className)} />;
}
