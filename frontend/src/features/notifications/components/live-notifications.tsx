import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { notificationKeys, outfitKeys } from "@/lib/query-keys";
import { whenInUse } from "@/lib/when-in-use";
import { waitUntilReadable } from "../api/wait-until-readable";

/** Milliseconds between two looks for new notifications while no channel is open. */
const pollMs = 60_000;

/**
 * Keeps the notifications of a user fresh: by their private channel, and while that is not open (no realtime service, no
 * network) by asking every minute. Renders nothing; mounted once, since a topic has one channel.
 */
export function LiveNotifications({ userId }: { userId: string }) {
  const queryClient = useQueryClient();
  const [isLive, setLive] = useState(false);

  useEffect(() => {
    let isOver = false;
    let wasLive = false;
    let leave = () => {};

    function refresh() {
      void queryClient.invalidateQueries({ queryKey: notificationKeys.ofUser(userId) });
      // A review changes the state that the creator's own lists show.
      void queryClient.invalidateQueries({ queryKey: outfitKeys.byCreator(userId, "everything") });
    }

    async function join() {
      await whenInUse();
      if (isOver) return;
      const { realtime } = await import("@/lib/realtime");
      await realtime.setAuth();
      if (isOver) return;
      const channel = realtime
        .channel(`notifications:${userId}`, {
          config: { private: true, broadcast: { replication_ready: true } },
        })
        .on("broadcast", { event: "notification" }, ({ payload }: { payload: { id: string } }) => {
          void waitUntilReadable(payload.id).then(refresh);
        })
        // The service reads broadcasts of the database from this moment on; what came before is fetched. The page has read its
        // lists a moment ago, so at first only the number is read again.
        .on("system", {}, ({ status }: { status: string }) => {
          setLive(status === "ok");
          if (status !== "ok") return;
          if (wasLive) refresh();
          else void queryClient.invalidateQueries({ queryKey: notificationKeys.unread(userId) });
          wasLive = true;
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
      leave();
    };
  }, [queryClient, userId]);

  useEffect(() => {
    if (isLive) return;
    const timer = window.setInterval(() => {
      if (document.visibilityState === "hidden") return;
      void queryClient.invalidateQueries({ queryKey: notificationKeys.ofUser(userId) });
    }, pollMs);
    return () => window.clearInterval(timer);
  }, [queryClient, userId, isLive]);

  return null;
}
