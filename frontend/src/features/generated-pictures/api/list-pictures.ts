import { queryOptions } from "@tanstack/react-query";
import type { GeneratedPictureStatus } from "@/lib/database";
import { rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";

/** Seconds for which an address of a picture is valid. */
const addressSeconds = 3600;
/** Milliseconds after which an address is made anew while the page is open: before the old one ends. */
const renewalMs = (addressSeconds - 300) * 1000;
/** Milliseconds between two looks at pictures that are being made while no channel is open. */
const pollMs = 4000;
/** Interval of polling while a channel is open, because a message may be lost. */
const safetyPollMs = 60_000;
/** Width in pixels of the rendered picture that the page shows. */
const shownWidth = 900;

const columns =
  "id, combine_id, title, status, attempts, max_attempts, progress, error, result_bucket, result_name, result_is_preview, created_at, finished_at, updated_at, outfit:combines(slug)";

/** A picture of an outfit on the signed-in user, or the job that makes it. */
export interface GeneratedPicture {
  id: string;
  combine_id: string | null;
  /** The outfit's name when the picture was asked for. */
  title: string;
  status: GeneratedPictureStatus;
  attempts: number;
  max_attempts: number;
  /** In percent. */
  progress: number;
  /** Why the last attempt failed; a waiting picture with an error is tried again. */
  error: string | null;
  result_bucket: string;
  /** Name of the object; null until the picture is generated. */
  result_name: string | null;
  /** True for the picture of the built-in generator, which does not show the outfit worn. */
  result_is_preview: boolean | null;
  created_at: string;
  finished_at: string | null;
  updated_at: string;
  /** Null when the outfit was deleted. */
  outfit: { slug: string } | null;
}

export const generatedPicturesKey = (userId: string) => ["generated-pictures", userId] as const;

/** Whether a picture waits or is being made. */
export function isInProgress({ status }: Pick<GeneratedPicture, "status">): boolean {
  return status === "queued" || status === "running";
}

/** All pictures of a user, newest first; the database keeps at most 60. */
export function generatedPicturesQuery(userId: string, isLive: boolean) {
  return queryOptions({
    queryKey: generatedPicturesKey(userId),
    queryFn: async ({ signal }): Promise<GeneratedPicture[]> =>
      rowsOf(
        await supabase
          .from("generated_pictures")
          .select(columns)
          .eq("user_id", userId)
          .order("created_at", { ascending: false })
          .order("id")
          .abortSignal(signal),
      ),
    refetchInterval: ({ state }) => {
      if (!state.data?.some(isInProgress)) return false;
      return isLive ? safetyPollMs : pollMs;
    },
  });
}

export interface PictureAddresses {
  /** For the page: rendered in the width that it shows. */
  shown: string;
  /** For saving: the file as it was made. */
  download: string;
}

/** Signed addresses of a finished picture. */
export function pictureAddressesQuery(userId: string, picture: GeneratedPicture) {
  const name = picture.result_name;
  return queryOptions({
    queryKey: [...generatedPicturesKey(userId), "addresses", picture.id, picture.finished_at],
    enabled: name !== null,
    staleTime: renewalMs,
    refetchInterval: renewalMs,
    // A tab in the background comes back with valid addresses.
    refetchIntervalInBackground: true,
    queryFn: async (): Promise<PictureAddresses> => {
      if (name === null) throw new Error("The picture has no file.");
      const { storage } = await import("@/lib/storage");
      const bucket = storage.from(picture.result_bucket);
      const [shown, download] = await Promise.all([
        bucket.createSignedUrl(name, addressSeconds, {
          transform: { width: shownWidth, resize: "contain" },
        }),
        bucket.createSignedUrl(name, addressSeconds, { download: fileName(picture, name) }),
      ]);
      if (shown.error !== null) throw shown.error;
      if (download.error !== null) throw download.error;
      return { shown: shown.data.signedUrl, download: download.data.signedUrl };
    },
  });
}

/** Name of the saved file: the outfit's in plain letters, with the ending of the stored file. */
export function fileName({ title }: Pick<GeneratedPicture, "title">, objectName: string): string {
  const words = title.toLowerCase().match(/[a-z0-9]+/g) ?? ["outfit"];
  const extension = /\.([a-z0-9]+)$/.exec(objectName)?.[1] ?? "jpg";
  return `${words.join("-").slice(0, 60)}.${extension}`;
}
