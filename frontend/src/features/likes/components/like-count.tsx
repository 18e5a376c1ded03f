import { useQuery } from "@tanstack/react-query";
import { likeCountQuery } from "../api/like-count";
import { useLiveLikeCount } from "../api/live-like-count";

/** "12 likes", kept up to date; renders nothing while unknown or without likes. */
export function LikeCount({ outfitId }: { outfitId: string }) {
  const { data: count = 0 } = useQuery(likeCountQuery(outfitId));
  const { isReconnecting } = useLiveLikeCount(outfitId);
  return (
    <div className="ml-2 flex flex-wrap items-center gap-x-3 text-ink-soft text-small">
      {count > 0 && (
        <p className="tabular-nums">
          {count === 1 ? "1 like" : `${count.toLocaleString("en-US")} likes`}
        </p>
      )}
      {/* The live region exists before its text, or screen readers would not announce it. */}
      <p role="status">
        {isReconnecting && (
          <span className="inline-flex items-center gap-2">
            <span aria-hidden="true" className="size-1.5 animate-pulse rounded-full bg-accent" />
            Reconnecting…
          </span>
        )}
      </p>
    </div>
  );
}
