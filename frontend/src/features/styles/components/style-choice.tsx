import { useQuery } from "@tanstack/react-query";
import { cn } from "@ui/cn";
import { Check } from "lucide-react";
import { ErrorNotice } from "@/components/ui/error-notice";
import { Skeleton } from "@/components/ui/skeleton";
import { outfitStylesQuery } from "@/lib/vocabulary";
import { likedStyleIdsQuery, useToggleStyle } from "../api/liked-styles";

/** Styles of outfits to like; each is saved at once. */
export function StyleChoice({ userId, label }: { userId: string; label: string }) {
  const styles = useQuery(outfitStylesQuery());
  const liked = useQuery(likedStyleIdsQuery(userId));
  const toggle = useToggleStyle(userId);
  const failed = [styles, liked].find(({ isLoadingError }) => isLoadingError);
  if (failed !== undefined) {
    return (
      <ErrorNotice
        title="The styles could not be loaded."
        error={failed.error}
        onRetry={failed.refetch}
      />
    );
  }
  if (styles.data === undefined || liked.data === undefined) {
    return <Skeleton className="h-28 w-full" />;
  }
  return (
    <ul aria-label={label} className="flex flex-wrap gap-2">
      {[...styles.data].map(([id, name]) => {
        const isLiked = liked.data.includes(id);
        return (
          <li key={id}>
            <button
              type="button"
              aria-pressed={isLiked}
              onClick={() => toggle.mutate({ id, on: !isLiked })}
              className={cn(
                "inline-flex h-11 items-center gap-2 rounded-full border px-4 text-small transition-colors",
                isLiked
                  ? "border-ink bg-ink text-canvas"
                  : "border-line-strong/60 text-ink hover:border-ink hover:bg-sheen",
              )}
            >
              {isLiked && <Check aria-hidden="true" className="size-4" strokeWidth={1.8} />}
              {name}
            </button>
          </li>
        );
      })}
    </ul>
  );
}
