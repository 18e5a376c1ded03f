import type { ReactNode } from "react";
import { Link } from "react-router";
import { Picture } from "@/components/ui/picture";
import { formatPrice } from "@/lib/format";
import { paths } from "@/lib/paths";
import type { Item } from "../api/item";
import { itemCardShape, itemPictureWidth } from "./item-card-shape";

interface ItemCardProps {
  item: Item;
  sizes: string;
  /** Whether it is in the first rows, whose pictures are loaded immediately. */
  eager?: boolean;
  /** The like button over the picture. With a mouse it appears on hover and focus; on touch it is always there. */
  actions?: ReactNode;
}

/** Card of a product: links to its page, and below to its brand. */
export function ItemCard({ item, sizes, eager = false, actions }: ItemCardProps) {
  const captionId = `item-${item.id}-caption`;
  return (
    <article className="picture-card @container relative">
      <Link
        to={paths.item(item.slug)}
        aria-labelledby={captionId}
        className="block rounded-md focus-visible:outline-offset-4"
      >
        <span className="block aspect-4/5">
          <Picture
            url={item.image}
            alt={item.name}
            sizes={sizes}
            width={itemPictureWidth}
            height={itemPictureWidth * itemCardShape.ratio}
            placeholderColor={item.image_color}
            eager={eager}
            className="size-full rounded-md"
          />
        </span>
        <span id={captionId} className="mt-3 block">
          <span className="block truncate font-serif text-ink text-name">{item.name}</span>
          <span className="flex gap-2.5 text-caption">
            <span className="text-ink tabular-nums">{formatPrice(item.price)}</span>
            <span className="truncate text-ink-soft">{item.description}</span>
          </span>
        </span>
      </Link>
      <p className="flex min-h-7 items-center gap-2 text-caption text-ink-soft pointer-coarse:min-h-11">
        <Link
          to={paths.brand(item.brand.id)}
          className="min-w-0 truncate py-0.5 text-ink underline decoration-line-strong underline-offset-4 hover:decoration-ink pointer-coarse:py-3"
        >
          {item.brand.name}
        </Link>
        {item.subcategory !== null && (
          <span className="hidden shrink-0 rounded-full border border-line px-2 text-label leading-5 @min-[13rem]:inline">
            {item.subcategory.name}
          </span>
        )}
        {item.category !== null && (
          <span className="hidden truncate @min-[17rem]:inline">{item.category.name}</span>
        )}
      </p>
      {actions !== undefined && (
        <div className="card-actions">
          <div className="pointer-events-auto flex">{actions}</div>
        </div>
      )}
    </article>
  );
}
