import { useQuery } from "@tanstack/react-query";
import { likeCountQuery } from "../api/like-count";

/** "12 likes"; nothing while unknown, and nothing for an outfit that nobody likes yet. */
export function LikeCount({ outfitId }: { outfitId: string }) {
  const { data: count = 0 } = useQuery(likeCountQuery(outfitId));
  if (count === 0) return null;
  return (
    <p className="ml-2 text-ink-soft text-small tabular-nums">
      {count === 1 ? "1 like" : `${count.toLocaleString("en-US")} likes`}
    </p>
  );
}
