import { useQuery } from "@tanstack/react-query";
import { cn } from "@ui/cn";
import type { MouseEvent, ReactNode } from "react";
import { Link, type To } from "react-router";
import { Picture } from "@/components/ui/picture";
import { capitalise } from "@/lib/format";
import { outfitStylesQuery } from "@/lib/vocabulary";
import type { Outfit } from "../api/outfit";
import { outfitCardShape, outfitPictureWidth } from "./outfit-card-shape";

interface OutfitCardProps {
  outfit: Outfit;
  to: To;
  sizes: string;
  /** Whether it is in the first rows, whose pictures are loaded immediately. */
  eager?: boolean;
  /** Like and bookmark buttons over the picture. With a mouse they appear on hover and focus; on touch they are always there. */
  actions?: ReactNode;
  /** Badge at the upper left of the picture: a rank or a status. */
  mark?: ReactNode;
  /** Gender and description in place of the creator. */
  details?: boolean;
  /** The pointer or the focus reaches the card: a good moment to preload what opening needs. */
  onIntent?: () => void;
  onOpen?: (event: MouseEvent<HTMLAnchorElement>) => void;
}

export function OutfitCard({
  outfit,
  to,
  sizes,
  eager = false,
  actions,
  mark,
  details = false,
  onIntent,
  onOpen,
}: OutfitCardProps) {
  const { data: styleNames } = useQuery(outfitStylesQuery());
  const styles = outfit.outfit_styles.flatMap((id) => styleNames?.get(id) ?? []).slice(0, 2);
  const captionId = `${outfitCardId(outfit.id)}-caption`;
  return (
    <article className="picture-card relative">
      <Link
        id={outfitCardId(outfit.id)}
        // Named by its caption only; otherwise the long description of the picture would come first.
        aria-labelledby={captionId}
        to={to}
        // A modal opens over the list; a page begins at its top.
        preventScrollReset={onOpen !== undefined}
        onClick={onOpen}
        onPointerEnter={onIntent}
        onFocus={onIntent}
        className="block rounded-md focus-visible:outline-offset-4"
      >
        <span className="block aspect-4/5">
          <Picture
            url={outfit.main_image}
            alt={outfit.image_alt ?? outfit.name}
            name={outfit.name}
            sizes={sizes}
            width={outfitPictureWidth}
            height={outfitPictureWidth * outfitCardShape.ratio}
            placeholderColor={outfit.main_image_color}
            eager={eager}
            className="size-full rounded-md"
          />
        </span>
        <span id={captionId} className="mt-3 block">
          <span className="block truncate font-serif text-ink text-name">{outfit.name}</span>
          {details ? (
            <Details outfit={outfit} styles={styles} />
          ) : (
            <CreatorAndStyles outfit={outfit} styles={styles} />
          )}
        </span>
      </Link>
      {mark !== undefined && (
        <div className="pointer-events-none absolute top-2.5 left-2.5">{mark}</div>
      )}
      {actions !== undefined && (
        <div className="card-actions">
          <div className="pointer-events-auto flex">{actions}</div>
        </div>
      )}
    </article>
  );
}

interface CaptionProps {
  outfit: Outfit;
  /** Names of up to two styles. */
  styles: readonly string[];
}

function CreatorAndStyles({ outfit, styles }: CaptionProps) {
  return (
    <>
      <span className="block truncate text-caption text-ink-soft">
        {outfit.creator?.username ? `by @${outfit.creator.username}` : "by Anonymous User"}
      </span>
      <span className="block truncate text-caption text-ink-soft">
        {styles.length > 0 ? styles.join(" · ") : "\u00a0"}
      </span>
    </>
  );
}

function Details({ outfit, styles }: CaptionProps) {
  return (
    <>
      <span className="mt-1 flex h-5.5 flex-wrap gap-1.5 overflow-hidden">
        {[capitalise(outfit.gender), ...styles].map((label, index) => (
          <span
            key={label}
            className={cn(
              "rounded-full border border-line px-2 text-ink-soft text-label leading-5",
              // A third one is cut off on phones, and the card would be named by a text that nobody sees.
              index > 1 && "max-md:hidden",
            )}
          >
            {label}
          </span>
        ))}
      </span>
      <span className="mt-1 block truncate text-caption text-ink-soft">
        {outfit.description ?? "\u00a0"}
      </span>
    </>
  );
}

/** Element id of the card's link. The modal returns the focus to it. */
export function outfitCardId(outfitId: string): string {
  return `outfit-${outfitId}`;
}
