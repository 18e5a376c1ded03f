import type { CardShape } from "@/components/ui/card-columns";

/** Pictures are 4:5; name, price and description, brand and category need 104 pixels. */
export const itemCardShape: CardShape = { ratio: 5 / 4, captionHeight: 104 };

/** Width in pixels of the largest item pictures. */
export const itemPictureWidth = 900;
