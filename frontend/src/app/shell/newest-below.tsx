import { Suspense } from "react";
import { lazyPart } from "@/lib/lazy-part";

const NewestOutfits = lazyPart(
  async () => ({ default: (await import("./newest-outfits")).NewestOutfits }),
  "nothing",
);

/** The newest outfits below a list that is short or empty, with code that is loaded when there is one. */
export function NewestBelow() {
  return (
    <Suspense>
      <NewestOutfits />
    </Suspense>
  );
}
