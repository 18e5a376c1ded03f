import { useQuery } from "@tanstack/react-query";
import { ArrowUpRight } from "lucide-react";
import { Button } from "@/components/ui/button";
import { Picture } from "@/components/ui/picture";
import { Skeleton } from "@/components/ui/skeleton";
import { formatPrice } from "@/lib/format";
import { type OutfitItem, outfitItemsQuery } from "../api/list-outfit-items";
import type { Outfit } from "../api/outfit";

/** What an outfit is made of, with prices and where to find each piece. */
export function OutfitItems({ outfit }: { outfit: Outfit }) {
  const { data: items, isPending, isError, refetch } = useQuery(outfitItemsQuery(outfit));
  const count = items?.length ?? outfit.item_ids.length;
  return (
    <section aria-labelledby={`items-of-${outfit.id}`}>
      <h2 id={`items-of-${outfit.id}`} className="font-serif text-name">
        Items ({count})
      </h2>
      {isPending ? (
        <div role="status" className="mt-2">
          <span className="sr-only">Loading items...</span>
          {outfit.item_ids.map((id) => (
            <div key={id} className="flex items-center gap-4 border-line border-t py-3">
              <Skeleton className="h-18 w-15 rounded-sm" />
              <div className="flex-1">
                <Skeleton className="h-4 w-2/3" />
                <Skeleton className="mt-2 h-3 w-1/3" />
              </div>
            </div>
          ))}
        </div>
      ) : isError ? (
        <div role="alert" className="mt-3 flex flex-wrap items-center justify-between gap-3">
          <p className="text-ink-soft text-small">The items could not be loaded.</p>
          <Button onClick={() => refetch()}>Try again</Button>
        </div>
      ) : items.length === 0 ? (
        <p className="mt-3 text-ink-soft text-small">No items found in this outfit</p>
      ) : (
        <ul className="mt-2">
          {items.map((item) => (
            <ItemRow key={item.id} item={item} />
          ))}
        </ul>
      )}
    </section>
  );
}

function ItemRow({ item }: { item: OutfitItem }) {
  return (
    <li className="flex items-center gap-4 border-line border-t py-3">
      <Picture
        url={item.image}
        alt=""
        sizes="60px"
        width={60}
        height={72}
        className="h-18 w-15 shrink-0 rounded-sm"
      />
      <div className="min-w-0 flex-1">
        <p className="truncate text-ink text-small">{item.name}</p>
        <p className="truncate text-caption text-ink-soft">{item.brand?.name}</p>
        {item.source_url === null ? (
          <p className="text-caption text-ink-soft">No external link available</p>
        ) : (
          <a
            href={item.source_url}
            target="_blank"
            rel="noreferrer noopener"
            className="inline-flex items-center gap-1 text-caption text-ink underline decoration-line-strong underline-offset-4 hover:decoration-ink"
          >
            View item
            <span className="sr-only">: {item.name}, opens in a new tab</span>
            <ArrowUpRight aria-hidden="true" className="size-3.5" />
          </a>
        )}
      </div>
      <p className="text-ink text-small tabular-nums">{formatPrice(item.price)}</p>
    </li>
  );
}
