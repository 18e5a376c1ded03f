import { useQuery } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { Link } from "react-router";
import { ShareButton } from "@/components/share-button";
import { FollowButton } from "@/features/follows/components/follow-button";
import type { PublicProfile } from "@/features/profiles/api/get-profile";
import { profileNumbersQuery } from "@/features/profiles/api/profile-numbers";
import { paths } from "@/lib/paths";
import { useSession } from "@/lib/session";

/** Below the header of a creator's page: numbers, following or editing, and sharing. */
export function ProfileActions({ profile }: { profile: PublicProfile }) {
  const { user } = useSession();
  const name = profile.full_name || `@${profile.username}`;
  return (
    <>
      <Numbers profileId={profile.id} />
      <div className="flex items-center justify-center gap-2">
        {user?.id === profile.id ? (
          <Button asChild>
            <Link to={paths.editProfile}>Edit Profile</Link>
          </Button>
        ) : (
          <FollowButton profileId={profile.id} name={name} />
        )}
        <ShareButton path={paths.profile(profile.username ?? "")} name={name} />
      </div>
    </>
  );
}

function Numbers({ profileId }: { profileId: string }) {
  const { data, isLoadingError, refetch } = useQuery(profileNumbersQuery(profileId));
  if (isLoadingError) {
    return (
      <p role="alert" className="flex min-h-11 items-center gap-3 text-ink-soft text-small">
        The numbers could not be loaded.
        <button type="button" onClick={() => refetch()} className="min-h-11 underline">
          Try again
        </button>
      </p>
    );
  }
  const shown = data && [
    ["outfit", "outfits", data.outfits],
    ["like", "likes", data.likes],
    ["follower", "followers", data.followers],
    ["following", "following", data.following],
  ];
  return (
    <ul
      aria-label="Numbers"
      aria-busy={!data}
      className="flex min-h-11 items-center gap-x-6 text-small"
    >
      {shown?.map(([one, many, count]) => (
        <li key={many} className="text-ink-soft">
          <span className="font-medium text-ink tabular-nums">
            {Number(count).toLocaleString("en-US")}
          </span>{" "}
          {count === 1 ? one : many}
        </li>
      ))}
    </ul>
  );
}
