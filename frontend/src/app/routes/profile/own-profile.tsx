import type { ReactNode } from "react";
import { ErrorNotice } from "@/components/ui/error-notice";
import { Skeleton } from "@/components/ui/skeleton";
import { type Profile, useSession } from "@/lib/session";

/** Renders with the signed-in user's profile: a placeholder before it is loaded, a notice when it cannot be. */
export function OwnProfile({ children }: { children: (profile: Profile) => ReactNode }) {
  const { profile, isProfileLoading, profileError, refreshProfile } = useSession();
  if (profile !== null) return children(profile);
  if (isProfileLoading) return <ProfileSkeleton />;
  return (
    <ErrorNotice
      title="Your profile could not be loaded."
      error={profileError}
      onRetry={refreshProfile}
    />
  );
}

function ProfileSkeleton() {
  return (
    <div role="status" className="flex items-center gap-6 max-sm:flex-col">
      <span className="sr-only">Loading profile...</span>
      <Skeleton className="size-28 rounded-full" />
      <div className="flex flex-col gap-3 max-sm:items-center">
        <Skeleton className="h-8 w-48" />
        <Skeleton className="h-4 w-56" />
      </div>
    </div>
  );
}
