import { cn } from "@/lib/cn";
import type { CombineStatus } from "@/lib/database";

/** The specification's labels of a review status. */
const labels: Record<CombineStatus, string> = {
  pending: "Pending Review",
  approved: "Approved",
  rejected: "Rejected",
};

const dots: Record<CombineStatus, string> = {
  pending: "bg-ink-soft",
  approved: "bg-success",
  rejected: "bg-danger",
};

export function StatusBadge({ status }: { status: CombineStatus }) {
  return (
    <span className="inline-flex items-center gap-2 rounded-full bg-canvas/75 px-3 py-1 text-ink text-label backdrop-blur-sm">
      <span aria-hidden="true" className={cn("size-2 rounded-full", dots[status])} />
      {labels[status]}
    </span>
  );
}
