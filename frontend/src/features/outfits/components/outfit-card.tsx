import { useQuery } from "@tanstack/react-query";
import type { MouseEvent, ReactNode } from "react";
import { Link, type To } from "react-router";
import { Picture } from "@/components/ui/picture";
import type { Outfit } from "../api/outfit";
import { outfitStylesQuery } from "../api/vocabulary";

/** Pixels under a card's picture: name, creator, styles. The masonry reckons with it. */
export const outfitCaptionHeight = 88;

/** Height over width of the pictures as they are drawn. */
export const pictureRatio = 5 / 4;

/** Pictures are drawn 4:5. Some are shown a little taller, always the same ones, for the rhythm of the page. */
export function outfitRatio(outfit: Pick<Outfit, "id">): number {
  const digit = Number.parseInt(outfit.id.replaceAll("-", "").slice(-2), 16);
  return digit % 5 < 2 ? 4 / 3 : pictureRatio;
}

interface OutfitCardProps {
  outfit: Outfit;
  to: To;
  sizes: string;
  /** Height over width of the picture. */
  ratio: number;
  /** In the first rows: loaded at once. */
  eager?: boolean;
  /** Like and bookmark: over the picture on hover and focus; where nothing hovers, always, beside the caption. */
  actions?: ReactNode;
  /** Over the picture's upper left: a rank or a status. */
  mark?: ReactNode;
  /** A pointer or the focus arrives: what opening needs can be fetched. */
  onIntent?: () => void;
  onOpen?: (event: MouseEvent<HTMLAnchorElement>) => void;
}

export function OutfitCard({
  outfit,
  to,
  sizes,
  ratio,
  eager = false,
  actions,
  mark,
  onIntent,
  onOpen,
}: OutfitCardProps) {
  const { data: styleNames } = useQuery(outfitStylesQuery());
  const styles = outfit.outfit_styles.flatMap((id) => styleNames?.get(id) ?? []).slice(0, 2);
  const captionId = `${outfitCardId(outfit.id)}-caption`;
  return (
    <article className="outfit-card relative">
      <Link
        id={outfitCardId(outfit.id)}
        // By its caption: the picture's description would come first, and it is long.
        aria-labelledby={captionId}
        to={to}
        preventScrollReset
        onClick={onOpen}
        onPointerEnter={onIntent}
        onFocus={onIntent}
        className="block rounded-md focus-visible:outline-offset-4"
      >
        <span className="block" style={{ aspectRatio: `${1 / ratio}` }}>
          <Picture
            url={outfit.main_image}
            alt={outfit.image_alt ?? outfit.name}
            sizes={sizes}
            width={960}
            height={Math.round(960 * ratio)}
            eager={eager}
            className="size-full rounded-md"
          />
        </span>
        <span id={captionId} className="mt-3 block">
          <span className="block truncate font-serif text-ink text-name">{outfit.name}</span>
          <span className="card-line block truncate text-caption text-ink-soft">
            {outfit.creator?.username ? `by @${outfit.creator.username}` : "by Anonymous User"}
          </span>
          <span className="card-line block truncate text-caption text-ink-soft">
            {styles.length > 0 ? styles.join(" · ") : "\u00a0"}
          </span>
        </span>
      </Link>
      {mark !== undefined && (
        <div className="pointer-events-none absolute top-2.5 left-2.5">{mark}</div>
      )}
      {actions !== undefined && (
        <div className="card-actions" style={{ "--picture-ratio": `${1 / ratio}` }}>
          <div className="pointer-events-auto flex">{actions}</div>
        </div>
      )}
    </article>
  );
}

/** The card's link, to which focus returns when its modal closes. */
export function outfitCardId(outfitId: string): string {
  return `outfit-${outfitId}`;
}
