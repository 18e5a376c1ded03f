import { useEffect, useRef } from "react";
import { useToggleBookmark } from "@/features/bookmarks/api/toggle-bookmark";
import { useToggleFollow } from "@/features/follows/api/toggle-follow";
import { useToggleLike } from "@/features/likes/api/toggle-like";
import { LiveNotifications } from "@/features/notifications/components/live-notifications";
import { takeWish } from "@/lib/kept-wish";

/** Runs on every page of a signed-in user: notifications, and the action for which they were asked to sign in. */
export function UserBackground({ userId }: { userId: string }) {
  useKeptWish(userId);
  return <LiveNotifications userId={userId} />;
}

/** Does what the person was asked to sign in for. */
function useKeptWish(userId: string): void {
  const toggles = {
    "like-outfit": useToggleLike(userId, "outfit"),
    "like-item": useToggleLike(userId, "item"),
    bookmark: useToggleBookmark(userId),
    follow: useToggleFollow(userId),
  };
  const newest = useRef(toggles);
  useEffect(() => {
    newest.current = toggles;
  });
  useEffect(() => {
    const wish = takeWish();
    if (wish !== null) newest.current[wish.kind]?.mutate({ id: wish.id, on: true });
  }, []);
}
