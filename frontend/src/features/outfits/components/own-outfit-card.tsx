import { type ReactNode, useId } from "react";
import { Link, type To } from "react-router";
import { Picture } from "@/components/ui/picture";
import type { CombineStatus } from "@/lib/database";
import { capitalise, formatDate } from "@/lib/format";
import type { Outfit } from "../api/outfit";
import { outfitCardSizes, outfitPictureWidth } from "./outfit-card-shape";
import { StatusBadge } from "./status-badge";

/** The meaning of a review status for the outfit's creator. */
const statusNotes: Record<CombineStatus, string> = {
  approved: "Your outfit is live.",
  pending: "Your outfit is under admin review.",
  rejected: "Your outfit was not approved.",
  unlisted: "Only those who have its link see it.",
};

interface OwnOutfitCardProps {
  outfit: Outfit;
  to: To;
  /** Word before the date, such as "Created". */
  dateLabel: string;
  /** Shows the bare status, capitalised, in place of its label. */
  capitalisesStatus?: boolean;
  rejectionReason: string | null;
  /** Buttons below the card. */
  actions: ReactNode;
}

/** An outfit as its creator sees it: number of items, date, and the state of its review. */
export function OwnOutfitCard({
  outfit,
  to,
  dateLabel,
  capitalisesStatus = false,
  rejectionReason,
  actions,
}: OwnOutfitCardProps) {
  const nameId = useId();
  const count = outfit.item_ids.length;
  return (
    <article className="relative">
      <Link
        to={to}
        aria-labelledby={nameId}
        className="block rounded-md focus-visible:outline-offset-4"
      >
        <Picture
          url={outfit.main_image}
          alt={outfit.image_alt ?? outfit.name}
          name={outfit.name}
          sizes={outfitCardSizes}
          width={outfitPictureWidth}
          height={outfitPictureWidth * 1.25}
          placeholderColor={outfit.main_image_color}
          className="aspect-4/5 w-full rounded-md"
        />
        <h3 id={nameId} className="mt-3 truncate font-serif text-ink text-name">
          {outfit.name}
        </h3>
      </Link>
      <p className="text-caption text-ink-soft">
        {count === 1 ? "1 item" : `${count} items`}
        <span className="max-md:hidden"> · </span>
        <span className="max-md:block">
          {dateLabel} {formatDate(outfit.created_at)}
        </span>
      </p>
      <p className="mt-1 text-caption text-ink">{statusNotes[outfit.status]}</p>
      {rejectionReason !== null && (
        <p className="mt-0.5 text-caption text-ink-soft">{rejectionReason}</p>
      )}
      <div className="-ml-2.5 flex">{actions}</div>
      <div className="pointer-events-none absolute top-2.5 left-2.5">
        <StatusBadge
          status={outfit.status}
          label={capitalisesStatus ? capitalise(outfit.status) : undefined}
        />
      </div>
    </article>
  );
}
