import { useQuery } from "@tanstack/react-query";
import { ShareButton } from "@/components/share-button";
import { unlistedLinkQuery } from "@/features/outfits/api/unlisted-link";
import { paths } from "@/lib/paths";

interface ShareUnlistedProps {
  outfit: { id: string; name: string };
  variant?: "plain" | "floating";
}

/** Shares an unlisted outfit of the user by its own link: name and id were public while it was listed. Nothing until that is known. */
export function ShareUnlisted({ outfit, variant = "plain" }: ShareUnlistedProps) {
  const { data: link } = useQuery(unlistedLinkQuery(outfit.id));
  if (link === undefined) return null;
  return <ShareButton path={paths.outfit(link)} name={outfit.name} variant={variant} />;
}
