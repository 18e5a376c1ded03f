import { useQuery } from "@tanstack/react-query";
import { OutfitOnYou } from "@/features/generated-pictures/components/outfit-on-you";
import { photosCompleteQuery } from "@/features/training-images/api/count-photos";

interface OutfitOnUserProps {
  userId: string;
  outfitId: string;
}

/** The part of an outfit's page that shows the outfit on the signed-in user. */
export function OutfitOnUser({ userId, outfitId }: OutfitOnUserProps) {
  const { data: hasPhotos, isError } = useQuery(photosCompleteQuery(userId));
  // When the photos cannot be counted, the database decides whether they are enough.
  return (
    <OutfitOnYou
      userId={userId}
      outfitId={outfitId}
      hasPhotos={hasPhotos ?? (isError || undefined)}
    />
  );
}
