import { useQuery } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { ArrowUpRight } from "lucide-react";
import { Link } from "react-router";
import { Picture } from "@/components/ui/picture";
import { Skeleton } from "@/components/ui/skeleton";
import { formatPrice } from "@/lib/format";
import { paths } from "@/lib/paths";
import { type OutfitItem, outfitItemsQuery } from "../api/list-outfit-items";
import type { Outfit } from "../api/outfit";

/** The items of an outfit with prices, links to their pages and, secondary, to the shop. */
export function OutfitItems({ outfit }: { outfit: Outfit }) {
  const { data: items, isPending, isLoadingError, refetch } = useQuery(outfitItemsQuery(outfit));
  const count = items?.length ?? outfit.item_ids.length;
  return (
    <section aria-labelledby={`items-of-${outfit.id}`}>
      <div className="flex items-baseline justify-between gap-4">
        <h2 id={`items-of-${outfit.id}`} className="font-serif text-name">
          Items ({count})
        </h2>
        {items !== undefined && items.length > 1 && (
          <p className="text-ink-soft text-small tabular-nums">
            {formatPrice(items.reduce((sum, item) => sum + item.price, 0))} in all
          </p>
        )}
      </div>
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
      ) : isLoadingError ? (
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
      <Link
        to={paths.item(item.slug)}
        aria-hidden="true"
        tabIndex={-1}
        className="shrink-0 rounded-sm"
      >
        <Picture
          url={item.image}
          alt=""
          placeholderColor={item.image_color}
          sizes="60px"
          width={900}
          height={1125}
          className="h-18 w-15 rounded-sm"
        />
      </Link>
      <div className="min-w-0 flex-1">
        <Link
          to={paths.item(item.slug)}
          className="flex min-h-6 items-center text-ink text-small hover:underline pointer-coarse:min-h-11"
        >
          <span className="truncate">{item.name}</span>
        </Link>
        <p className="flex items-center gap-3 text-caption text-ink-soft">
          {item.brand !== null && (
            <Link
              to={paths.brand(item.brand.id)}
              className="inline-flex min-h-6 min-w-0 items-center hover:text-ink pointer-coarse:min-h-11"
            >
              <span className="truncate">{item.brand.name}</span>
            </Link>
          )}
          <ShopLink item={item} />
        </p>
      </div>
      <p className="text-ink text-small tabular-nums">{formatPrice(item.price)}</p>
    </li>
  );
}

function ShopLink({ item }: { item: OutfitItem }) {
  if (item.source_url === null) return <span className="truncate">No external link available</span>;
  return (
    <a
      href={item.source_url}
      target="_blank"
      rel="noreferrer noopener"
      className="inline-flex min-h-6 shrink-0 items-center gap-1 underline decoration-line-strong underline-offset-4 hover:text-ink hover:decoration-ink pointer-coarse:min-h-11"
    >
      View item
      <span className="sr-only">: {item.name}, opens in a new tab</span>
      <ArrowUpRight aria-hidden="true" className="size-3.5" />
    </a>
  );
}
