import { Suspense } from "react";
import { Picture } from "@/components/ui/picture";
import { itemPictureWidth } from "@/features/items/components/item-card-shape";
import { outfitPictureWidth } from "@/features/outfits/components/outfit-card-shape";
import {
  arrangementOf,
  type Draft,
  isComposed,
  listItemsWithPicture,
  movedPieces,
  pictureItem,
} from "@/features/submissions/api/draft";
import { lazyPart } from "@/lib/lazy-part";

const AdjustPieces = lazyPart(async () => ({
  default: (await import("./adjust-pieces")).AdjustPieces,
}));

interface PictureStageProps {
  draft: Draft;
  onChange: (change: Partial<Draft>) => void;
}

const frame = "aspect-4/5 w-full rounded-md";
const sizes = "(min-width: 1024px) 448px, 92vw";

/** The picture of the outfit in the size in which others see it. The pieces of a sheet can be moved on it. */
export function PictureStage({ draft, onChange }: PictureStageProps) {
  const { picture } = draft;
  const items = listItemsWithPicture(draft.items);
  if (isComposed(draft) && items.length > 1) {
    const arrangement = arrangementOf(draft);
    return (
      <Suspense fallback={<div className={`${frame} bg-raised`} />}>
        <AdjustPieces
          items={items}
          arrangement={arrangement}
          moved={movedPieces(draft)}
          onMove={(moved) => onChange({ picture: { kind: "composed", arrangement, moved } })}
        />
      </Suspense>
    );
  }
  if (picture.kind === "uploaded") {
    return (
      <Picture
        // Another picture is another attempt: a file that could not be shown must not hide the next one.
        key={picture.url}
        url={picture.url}
        alt="Your picture"
        sizes={sizes}
        width={outfitPictureWidth}
        height={outfitPictureWidth * 1.25}
        className={frame}
      />
    );
  }
  const item = pictureItem(draft);
  return (
    <Picture
      key={item?.id}
      url={item?.image ?? null}
      alt={item?.name ?? ""}
      sizes={sizes}
      width={itemPictureWidth}
      height={itemPictureWidth * 1.25}
      placeholderColor={item?.image_color ?? null}
      preview
      className={frame}
    />
  );
}
