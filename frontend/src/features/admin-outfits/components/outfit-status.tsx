import { cn } from "@ui/cn";
import { type AdminOutfit, statusLabels } from "../api/outfits";

const dots = {
  pending: "bg-ink-soft",
  approved: "bg-success",
  rejected: "bg-danger",
  unlisted: "bg-line-strong",
} as const;

function Badge({ dot, children }: { dot: string; children: string }) {
  return (
    <span className="inline-flex items-center gap-1.5 whitespace-nowrap rounded-full border border-line px-2 text-caption">
      <span aria-hidden="true" className={cn("size-2 rounded-full", dot)} />
      {children}
    </span>
  );
}

export function OutfitStatus({ outfit }: { outfit: AdminOutfit }) {
  return (
    <span className="flex flex-wrap gap-1">
      {outfit.created_by_admin && <Badge dot="bg-[#2f6fd0]">Admin Created</Badge>}
      <Badge dot={dots[outfit.status]}>{statusLabels[outfit.status]}</Badge>
    </span>
  );
}
