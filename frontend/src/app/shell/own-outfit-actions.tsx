import { IconButton, iconButtonClasses } from "@ui/icon-button";
import { Pencil, Trash2 } from "lucide-react";
import { Link } from "react-router";
import { ShareButton } from "@/components/share-button";
import { useDeleteOutfit } from "@/features/outfits/api/delete-outfit";
import type { Outfit } from "@/features/outfits/api/outfit";
import { paths } from "@/lib/paths";

interface OwnOutfitActionsProps {
  userId: string;
  outfit: Pick<Outfit, "id" | "name" | "slug" | "status">;
  /** Floating over the picture of a card, or plain below it. */
  variant?: "plain" | "floating";
}

/** The creator's actions on an outfit: share a published one; edit and delete others. */
export function OwnOutfitActions({ userId, outfit, variant = "plain" }: OwnOutfitActionsProps) {
  const deleteOutfit = useDeleteOutfit(userId);
  if (outfit.status === "approved") {
    return <ShareButton path={paths.outfit(outfit.slug)} name={outfit.name} variant={variant} />;
  }
  return (
    <>
      <Link
        to={paths.editOutfit(outfit.id)}
        aria-label={`Edit ${outfit.name}`}
        title={`Edit ${outfit.name}`}
        className={iconButtonClasses(variant)}
      >
        <Pencil aria-hidden="true" className="size-5" strokeWidth={1.6} />
      </Link>
      <IconButton
        label={`Delete ${outfit.name}`}
        variant={variant}
        onClick={() => deleteOutfit(outfit)}
      >
        <Trash2 className="size-5" strokeWidth={1.6} />
      </IconButton>
    </>
  );
}
