import { useQuery } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { Link } from "react-router";
import { ShareButton } from "@/components/share-button";
import { useToggleBlock } from "@/features/blocks/api/blocks";
import { BlockButton } from "@/features/blocks/components/block-button";
import { FollowButton } from "@/features/follows/components/follow-button";
import type { PublicProfile } from "@/features/profiles/api/get-profile";
import { profileNumbersQuery } from "@/features/profiles/api/profile-numbers";
import { ReportButton } from "@/features/reports/components/report-button";
import { blockedIdsQuery } from "@/lib/blocked-people";
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
        ) : user === null ? (
          <FollowButton profileId={profile.id} name={name} />
        ) : (
          <FollowOrUnblock userId={user.id} profileId={profile.id} name={name} />
        )}
        <ShareButton path={paths.profile(profile.username ?? "")} name={name} />
        {user?.id !== profile.id && (
          <ReportButton subject={{ kind: "person", id: profile.id }} name={name} />
        )}
        {user !== null && user.id !== profile.id && (
          <BlockUnlessBlocked userId={user.id} profileId={profile.id} name={name} />
        )}
      </div>
    </>
  );
}

interface OtherPersonProps {
  userId: string;
  profileId: string;
  name: string;
}

/** The button to follow is missing on the page of a person whom the user has blocked. */
function FollowOrUnblock({ userId, profileId, name }: OtherPersonProps) {
  const { data: blocked } = useQuery(blockedIdsQuery(userId));
  const toggle = useToggleBlock(userId);
  if (blocked?.includes(profileId) !== true) {
    return <FollowButton profileId={profileId} name={name} />;
  }
  return (
    <Button
      aria-label={`Unblock ${name}`}
      pending={toggle.isPending}
      onClick={() => toggle.mutate({ id: profileId, on: false })}
    >
      Unblock
    </Button>
  );
}

function BlockUnlessBlocked({ userId, profileId, name }: OtherPersonProps) {
  const { data: blocked } = useQuery(blockedIdsQuery(userId));
  if (blocked?.includes(profileId) !== false) return null;
  return <BlockButton userId={userId} person={{ id: profileId, name }} />;
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
