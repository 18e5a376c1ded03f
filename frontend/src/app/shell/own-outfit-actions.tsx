import { IconButton, iconButtonClasses } from "@ui/icon-button";
import { Eye, EyeOff, Pencil, Trash2 } from "lucide-react";
import { Link } from "react-router";
import { ShareUnlisted } from "@/app/shell/share-unlisted";
import { ShareButton } from "@/components/share-button";
import { useDeleteOutfit } from "@/features/outfits/api/delete-outfit";
import { useListOutfit } from "@/features/outfits/api/list-outfit";
import type { Outfit } from "@/features/outfits/api/outfit";
import { paths } from "@/lib/paths";

interface OwnOutfitActionsProps {
  userId: string;
  outfit: Pick<Outfit, "id" | "name" | "slug" | "status">;
  /** Floating over the picture of a card, or plain below it. */
  variant?: "plain" | "floating";
}

/** The creator's actions on an outfit: share a published one, and take it out of lists; edit and delete others. */
export function OwnOutfitActions({ userId, outfit, variant = "plain" }: OwnOutfitActionsProps) {
  const deleteOutfit = useDeleteOutfit(userId);
  const list = useListOutfit();
  if (outfit.status === "approved" || outfit.status === "unlisted") {
    const { id, name } = outfit;
    const isListed = outfit.status === "approved";
    const Icon = isListed ? EyeOff : Eye;
    return (
      <>
        {isListed ? (
          <ShareButton path={paths.outfit(outfit.slug)} name={name} variant={variant} />
        ) : (
          <ShareUnlisted outfit={outfit} variant={variant} />
        )}
        <IconButton
          label={isListed ? `Take ${name} out of all lists` : `List ${name} again`}
          variant={variant}
          busy={list.isPending}
          onClick={() => list.mutate({ id, listed: !isListed })}
        >
          <Icon className="size-5" strokeWidth={1.6} />
        </IconButton>
      </>
    );
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
