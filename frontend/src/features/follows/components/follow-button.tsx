import { useQuery } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { useSession } from "@/lib/session";
import { useSignInGate } from "@/lib/use-sign-in-gate";
import { followedIdsQuery } from "../api/followed-ids";
import { useToggleFollow } from "../api/toggle-follow";

interface FollowButtonProps {
  profileId: string;
  /** Part of the accessible name. */
  name: string;
}

/** Follows a creator. A visitor signs in first. */
export function FollowButton({ profileId, name }: FollowButtonProps) {
  const { user, isLoading } = useSession();
  const userId = user?.id ?? "";
  const { data: followedIds, isPending } = useQuery({
    ...followedIdsQuery(userId),
    enabled: userId !== "",
  });
  const toggleFollow = useToggleFollow(userId);
  const requireSignIn = useSignInGate();
  const isFollowed = followedIds?.includes(profileId) ?? false;
  return (
    <Button
      variant={isFollowed ? "secondary" : "primary"}
      aria-pressed={isFollowed}
      // Wide enough for both words, so that nothing beside it moves.
      className="min-w-30"
      disabled={isLoading || (userId !== "" && isPending) || toggleFollow.isPending}
      onClick={() => {
        if (userId === "") {
          requireSignIn("Please sign in to follow this creator.", {
            kind: "follow",
            id: profileId,
          });
          return;
        }
        toggleFollow.mutate({ id: profileId, on: !isFollowed });
      }}
    >
      {isFollowed ? "Following" : "Follow"}
      <span className="sr-only"> {name}</span>
    </Button>
  );
}
