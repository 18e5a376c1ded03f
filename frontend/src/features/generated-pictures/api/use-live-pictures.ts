import { type QueryClient, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { supabase } from "@/lib/supabase";
import {
  type GeneratedPicture,
  generatedPicturesKey,
  generatedPicturesQuery,
  isInProgress,
} from "./list-pictures";

/** A change of a picture, as announced on the channel. */
type PictureChange = Pick<GeneratedPicture, "id" | "status" | "progress" | "updated_at">;

/** Milliseconds before each look for a state that was announced. */
const pauses = [0, 200, 800, 3000];

/**
 * The user's pictures, kept fresh while one of them is being made: by the private channel, and while that is not open (no
 * realtime service, no network) by asking every few seconds. Used once on a page, since a topic has one channel.
 */
export function useLivePictures(userId: string) {
  const queryClient = useQueryClient();
  const [isLive, setLive] = useState(false);
  const list = useQuery(generatedPicturesQuery(userId, isLive));
  const isWaiting = list.data?.some(isInProgress) ?? false;
  useEffect(
    () => (isWaiting ? joinChannel(userId, queryClient, setLive) : undefined),
    [userId, queryClient, isWaiting],
  );
  return list;
}

function joinChannel(
  userId: string,
  queryClient: QueryClient,
  setLive: (isLive: boolean) => void,
): () => void {
  let isOver = false;
  let leave = () => {};
  async function join() {
    const { realtime } = await import("@/lib/realtime");
    await realtime.setAuth();
    if (isOver) return;
    const channel = realtime
      .channel(`generated-pictures:${userId}`, {
        config: { private: true, broadcast: { replication_ready: true } },
      })
      .on("broadcast", { event: "changed" }, ({ payload }: { payload: PictureChange }) => {
        void applyChange(queryClient, userId, payload);
      })
      .on("system", {}, ({ status }: { status: string }) => {
        setLive(status === "ok");
        // Changes before this moment were not announced on the channel, so the list is read again.
        void queryClient.invalidateQueries({ queryKey: generatedPicturesKey(userId), exact: true });
      })
      .subscribe((status) => {
        if (status !== "SUBSCRIBED") setLive(false);
      });
    leave = () => void realtime.removeChannel(channel);
  }
  // If the client's code cannot be loaded, there is no channel and polling continues.
  join().catch(() => undefined);
  return () => {
    isOver = true;
    setLive(false);
    leave();
  };
}

/** Shows progress immediately, and reads the row again when its status has changed. */
async function applyChange(queryClient: QueryClient, userId: string, change: PictureChange) {
  const queryKey = generatedPicturesKey(userId);
  if (change.status === "running") {
    queryClient.setQueryData<GeneratedPicture[]>(queryKey, (pictures) =>
      pictures?.map((picture) =>
        picture.id === change.id && isInProgress(picture)
          ? { ...picture, status: "running", progress: change.progress }
          : picture,
      ),
    );
    // A list that is being read may have been read before the change, and would take the progress back when it arrives.
    if (queryClient.isFetching({ queryKey, exact: true }) === 0) return;
  }
  await waitUntilReadable(change);
  await queryClient.invalidateQueries({ queryKey, exact: true });
}

/** Resolves when the announced state can be read: the replication stream reports a commit a moment before others see it. */
async function waitUntilReadable({ id, updated_at }: PictureChange): Promise<void> {
  for (const pause of pauses) {
    await new Promise((done) => setTimeout(done, pause));
    const { data } = await supabase
      .from("generated_pictures")
      .select("id")
      .eq("id", id)
      .gte("updated_at", updated_at)
      .maybeSingle();
    if (data !== null) return;
  }
}
