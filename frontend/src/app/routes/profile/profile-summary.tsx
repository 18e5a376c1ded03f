import type { User } from "@supabase/supabase-js";
import { Avatar } from "@/components/ui/avatar";
import { ErrorNotice } from "@/components/ui/error-notice";
import { Skeleton } from "@/components/ui/skeleton";
import { cn } from "@/lib/cn";
import { capitalise, initialsOf } from "@/lib/format";
import { useSession } from "@/lib/session";

/** Who is signed in: picture, username, role and e-mail address. */
export function ProfileSummary({ user }: { user: User }) {
  const { profile, isProfileLoading, profileError, refreshProfile } = useSession();
  if (isProfileLoading) return <SummarySkeleton />;
  if (profile === null && profileError !== null) {
    return (
      <ErrorNotice
        title="Your profile could not be loaded."
        error={profileError}
        onRetry={refreshProfile}
      />
    );
  }
  const username = profile?.username ?? null;
  return (
    <div className="flex items-center gap-6 max-sm:flex-col max-sm:text-center">
      <Avatar src={profile?.avatar_url} initials={initialsOf(username, user.email)} size="lg" />
      <div className="min-w-0 max-w-full">
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1 max-sm:justify-center">
          <h2 className="break-words font-serif text-heading">{username ?? "No username set"}</h2>
          <RoleBadge role={profile?.role ?? "user"} />
        </div>
        <p className="mt-1 break-words text-ink-soft">{user.email}</p>
      </div>
    </div>
  );
}

function RoleBadge({ role }: { role: string }) {
  return (
    <span
      className={cn(
        "rounded-full px-3 py-0.5 text-label",
        role === "admin" ? "bg-accent text-on-accent" : "border border-line text-ink-soft",
      )}
    >
      {capitalise(role)}
    </span>
  );
}

function SummarySkeleton() {
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
