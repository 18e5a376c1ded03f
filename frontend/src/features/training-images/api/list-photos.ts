import { queryOptions } from "@tanstack/react-query";
import { rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";

/** Private bucket of the training photos. */
export const photoBucket = "profile-avatars";

/** Places of the photos. A submission needs all of them filled. */
export const slots = [1, 2, 3] as const;
export type Slot = (typeof slots)[number];

/** Seconds for which an address of a photo is valid. */
const addressSeconds = 3600;
/** Milliseconds after which all addresses are made anew, while the page is open: before the old ones end. */
const renewalMs = (addressSeconds - 300) * 1000;
/** Width in pixels of the rendered previews: photos have up to 10 MiB, and the page shows them small. */
const previewWidth = 640;

export interface TrainingPhoto {
  slot: Slot;
  /** Name of the object in the bucket. */
  path: string;
  /** Signed URL of a preview; null when there is none. */
  url: string | null;
}

export const trainingPhotosKey = (userId: string) => ["training-images", userId] as const;

/** Neither the image renderer nor most browsers read this format; the file is too large to download it for a try. */
export function isHeic(path: string): boolean {
  return /\.hei[cf]$/i.test(path);
}

/** The user's training photos with addresses to show them. */
export function trainingPhotosQuery(userId: string) {
  return queryOptions({
    queryKey: trainingPhotosKey(userId),
    staleTime: renewalMs,
    refetchInterval: renewalMs,
    // A tab in the background comes back with valid addresses.
    refetchIntervalInBackground: true,
    queryFn: async ({ signal }): Promise<TrainingPhoto[]> => {
      const rows = rowsOf(
        await supabase
          .from("user_training_images")
          .select("image_order, image_url")
          .eq("user_id", userId)
          .order("image_order")
          .abortSignal(signal),
      );
      const photos = rows.flatMap(({ image_order, image_url }) => {
        const slot = slots.find((known) => known === image_order);
        return slot === undefined ? [] : [{ slot, path: image_url }];
      });
      return Promise.all(
        photos.map(async (photo) => ({ ...photo, url: await signPhoto(photo.path) })),
      );
    },
  });
}

/** A signed address. Not the original one in place of a failed signature: a private bucket does not serve it. */
async function signPhoto(path: string): Promise<string | null> {
  if (isHeic(path)) return null;
  const { storage } = await import("@/lib/storage");
  const { data } = await storage.from(photoBucket).createSignedUrl(path, addressSeconds, {
    transform: { width: previewWidth, resize: "contain" },
  });
  return data?.signedUrl ?? null;
}
