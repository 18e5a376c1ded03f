import type { CardShape } from "@/components/ui/card-columns";

/** Pictures are 4:5; name, creator and styles need 88 pixels. */
export const outfitCardShape: CardShape = { ratio: 5 / 4, captionHeight: 88 };

/** The shape with `details`: gender and styles as badges, and the description. */
export const outfitDetailCardShape: CardShape = { ratio: 5 / 4, captionHeight: 112 };

/** Width in pixels of the largest outfit pictures. */
export const outfitPictureWidth = 1200;

/** Rendered width of a card's picture beside an expanded sidebar, in the syntax of `sizes`. */
export const outfitCardSizes =
  "(min-width: 1536px) 17vw, (min-width: 1280px) 20vw, (min-width: 768px) 28vw, 46vw";

/** Cards in view when a page opens, on wide screens: their pictures are loaded first. */
export const eagerOutfitCards = 4;
