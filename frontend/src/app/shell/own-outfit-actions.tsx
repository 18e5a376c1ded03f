import { Pencil, Trash2 } from "lucide-react";
import { Link } from "react-router";
import { ShareButton } from "@/components/share-button";
import { IconButton } from "@/components/ui/icon-button";
import { useDeleteOutfit } from "@/features/outfits/api/delete-outfit";
import type { Outfit } from "@/features/outfits/api/outfit";
import { paths } from "@/lib/paths";

interface OwnOutfitActionsProps {
  userId: string;
  outfit: Pick<Outfit, "id" | "name" | "slug" | "status">;
}

/** What creators can do with an outfit: share it when it is live; edit and delete it before that. */
export function OwnOutfitActions({ userId, outfit }: OwnOutfitActionsProps) {
  const deleteOutfit = useDeleteOutfit(userId);
  if (outfit.status === "approved") {
    return <ShareButton path={paths.outfit(outfit.slug)} name={outfit.name} />;
  }
  return (
    <>
      <Link
        to={paths.editOutfit(outfit.id)}
        aria-label={`Edit ${outfit.name}`}
        title={`Edit ${outfit.name}`}
        className="inline-flex size-11 items-center justify-center rounded-full text-ink-soft transition-colors hover:bg-sheen hover:text-ink"
      >
        <Pencil aria-hidden="true" className="size-5" strokeWidth={1.6} />
      </Link>
      <IconButton label={`Delete ${outfit.name}`} onClick={() => deleteOutfit(outfit)}>
        <Trash2 className="size-5" strokeWidth={1.6} />
      </IconButton>
    </>
  );
}
