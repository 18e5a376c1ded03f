import { cn } from "@ui/cn";
import type { CombineStatus } from "@/lib/database";

/** The specification's labels of a review status. */
const labels: Record<CombineStatus, string> = {
  pending: "Pending Review",
  approved: "Approved",
  rejected: "Rejected",
  unlisted: "Unlisted",
};

const dots: Record<CombineStatus, string> = {
  pending: "bg-ink-soft",
  approved: "bg-success",
  rejected: "bg-danger",
  unlisted: "bg-line-strong",
};

interface StatusBadgeProps {
  status: CombineStatus;
  /** Replaces the specification's label. */
  label?: string | undefined;
}

export function StatusBadge({ status, label = labels[status] }: StatusBadgeProps) {
  return (
    <span className="inline-flex items-center gap-2 rounded-full bg-canvas/75 px-3 py-1 text-ink text-label backdrop-blur-sm">
      <span aria-hidden="true" className={cn("size-2 rounded-full", dots[status])} />
      {label}
    </span>
  );
}
