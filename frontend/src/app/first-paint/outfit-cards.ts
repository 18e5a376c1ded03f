import type { PageData } from "@/app/page-rows";
import { columnClasses } from "@/components/ui/card-columns";
import type { Outfit } from "@/features/outfits/api/outfit";
import {
  eagerOutfitCards,
  outfitCardShape,
  outfitCardSizes,
  outfitDetailCardShape,
  outfitPictureWidth,
} from "@/features/outfits/components/outfit-card-shape";
import { capitalise } from "@/lib/format";
import { div, picture, span } from "./elements";

/** More cards than the largest screens show at the same time; pictures after the first four are left to the app. */
const maxCards = 10;

/**
 * The newest outfits as cards. `details` shows gender and description in place of the creator. `label` is the name of the list
 * that the app renders here; `components/ui/list-places.ts` reads it.
 */
export function outfitCards(data: PageData, label: string, details: boolean): HTMLElement {
  const styleNames = new Map(data.outfit_styles?.map(({ id, name }) => [id, name]));
  const { captionHeight } = details ? outfitDetailCardShape : outfitCardShape;
  const cards = (data.newest_outfits ?? []).slice(0, maxCards).map((outfit, index) => {
    const styles = outfit.outfit_styles.flatMap((id) => styleNames.get(id) ?? []).slice(0, 2);
    const caption = div(
      "pt-3",
      span("block truncate font-serif text-ink text-name", outfit.name),
      ...(details ? detailLines(outfit, styles) : creatorLines(outfit, styles)),
    );
    caption.style.height = `${captionHeight}px`;
    const frame = picture({
      url: index < eagerOutfitCards ? outfit.main_image : null,
      color: outfit.main_image_color,
      sizes: outfitCardSizes,
      width: outfitPictureWidth,
      className: "size-full rounded-md",
    });
    return div("min-w-0", span("block aspect-4/5", frame), caption);
  });
  const list = div("@container", div(columnClasses, ...cards));
  list.dataset.list = label;
  return list;
}

const line = "block truncate text-caption text-ink-soft";

function creatorLines({ creator }: Outfit, styles: string[]): HTMLElement[] {
  return [
    span(line, creator?.username ? `by @${creator.username}` : "by Anonymous User"),
    span(line, styles.join(" · ") || "\u00a0"),
  ];
}

function detailLines({ gender, description }: Outfit, styles: string[]): HTMLElement[] {
  const badges = [capitalise(gender), ...styles].map((label, index) =>
    span(
      `rounded-full border border-line px-2 text-ink-soft text-label leading-5${index > 1 ? " max-md:hidden" : ""}`,
      label,
    ),
  );
  return [
    span("mt-1 flex h-5.5 flex-wrap gap-1.5 overflow-hidden", ...badges),
    span(`${line} mt-1`, description ?? "\u00a0"),
  ];
}
