import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { whenInUse } from "@/lib/when-in-use";
import { likeCountQuery } from "./like-count";

/**
 * Keeps the like count of an outfit up to date while the component is shown. Returns whether the connection was lost and is
 * being restored; the number may be out of date until then.
 */
export function useLiveLikeCount(outfitId: string): { isReconnecting: boolean } {
  const queryClient = useQueryClient();
  const [isReconnecting, setReconnecting] = useState(false);

  useEffect(() => {
    const { queryKey } = likeCountQuery(outfitId);
    let isOver = false;
    let wasLive = false;
    let close = () => {};

    async function showCount(payload: unknown) {
      const count = parseCount(payload);
      if (count === null) return;
      // A response that is under way may have been read before this like.
      await queryClient.cancelQueries({ queryKey });
      queryClient.setQueryData(queryKey, count);
    }

    function followStatus(status: string) {
      if (isOver) return;
      if (status === "SUBSCRIBED") {
        wasLive = true;
        setReconnecting(false);
        return;
      }
      // A channel that the server has closed is not joined again.
      if (wasLive && status !== "CLOSED") setReconnecting(true);
    }

    function readCount({ extension, status }: { extension: string; status: string }) {
      // From now on changes are announced. Those since the page was loaded, or since the connection was lost, were missed,
      // so the count is read again.
      if (extension === "system" && status === "ok") {
        void queryClient.invalidateQueries({ queryKey });
      }
    }

    async function follow() {
      await whenInUse();
      if (isOver) return;
      const { realtime } = await import("@/lib/realtime");
      if (isOver) return;
      const channel = realtime
        .channel(`outfit-likes:${outfitId}`, {
          config: { private: true, broadcast: { replication_ready: true } },
        })
        .on("system", {}, readCount)
        .on("broadcast", { event: "likes" }, ({ payload }) => void showCount(payload))
        .subscribe(followStatus);
      close = () => void realtime.removeChannel(channel);
    }

    // Without the file, for example offline, the number stays as it was loaded.
    follow().catch(() => undefined);
    return () => {
      isOver = true;
      close();
    };
  }, [outfitId, queryClient]);

  return { isReconnecting };
}

/** Parses the number in a broadcast of the database; null if the message has none. */
export function parseCount(payload: unknown): number | null {
  if (typeof payload !== "object" || payload === null || !("likes" in payload)) return null;
  const { likes } = payload;
  return typeof likes === "number" && Number.isSafeInteger(likes) && likes >= 0 ? likes : null;
}
