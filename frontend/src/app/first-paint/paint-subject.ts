import type { PageData } from "@/app/page-rows";
import { subjectColumns } from "@/app/routes/subject-columns";
import { gallerySizes } from "@/components/gallery-sizes";
import { itemPictureWidth } from "@/features/items/components/item-card-shape";
import { outfitPictureWidth } from "@/features/outfits/components/outfit-card-shape";
import { formatPrice } from "@/lib/format";
import { div, element, picture, sitePage, span } from "./elements";

/** The page of an outfit. */
export function paintOutfit({ outfit, outfit_items: items = [] }: PageData): HTMLElement | null {
  if (outfit === undefined) return null;
  const hasMorePictures = items.some(({ image }) => image !== null && image !== outfit.main_image);
  return subjectPage(
    galleryOf(outfit.main_image, outfit.main_image_color, outfitPictureWidth, hasMorePictures),
    element("h1", "font-serif text-display", outfit.name),
    // Placeholder for the creator and the buttons.
    div("mt-4 h-11"),
    div("mt-2 h-11"),
    ...descriptionOf(outfit.description),
  );
}

/** The page of an item. */
export function paintItem({ item, item_outfits: outfits = [] }: PageData): HTMLElement | null {
  if (item === undefined) return null;
  const hasMorePictures = outfits.some(({ main_image }) => main_image !== null);
  return subjectPage(
    galleryOf(item.image, item.image_color, itemPictureWidth, hasMorePictures),
    span(
      "inline-flex min-h-6 items-center text-ink-soft text-small underline decoration-line-strong underline-offset-4 pointer-coarse:min-h-11",
      item.brand.name,
    ),
    element("h1", "mt-2 font-serif text-display", item.name),
    element("p", "mt-4 text-heading tabular-nums", formatPrice(item.price)),
    // Placeholder for the buttons.
    div("mt-3 h-11"),
    ...descriptionOf(item.description),
  );
}

function subjectPage(gallery: HTMLElement, ...details: HTMLElement[]): HTMLElement {
  return sitePage(div(subjectColumns, gallery, div("min-w-0 md:pt-4", ...details)));
}

/** The first picture, and the room of the thumbnails below it, which phones do not have. */
function galleryOf(
  url: string | null,
  color: string | null,
  width: number,
  hasThumbnails: boolean,
): HTMLElement {
  const large = picture({ url, color, width, sizes: gallerySizes, className: "size-full" });
  return div(
    "max-md:-mt-8 min-w-0 md:self-start",
    div("max-md:-mx-4 aspect-4/5 overflow-hidden md:rounded-lg", large),
    ...(hasThumbnails ? [div("mt-3 h-22 max-md:hidden")] : []),
  );
}

function descriptionOf(text: string | null): HTMLElement[] {
  return text === null ? [] : [element("p", "mt-5 max-w-prose text-ink-soft", text)];
}
