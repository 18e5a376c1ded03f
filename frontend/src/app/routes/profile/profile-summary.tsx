import { Button } from "@ui/button";
import { cn } from "@ui/cn";
import { LoadingPage } from "@ui/spinner";
import { Suspense, useState } from "react";
import { Avatar } from "@/components/ui/avatar";
import { accountClasses } from "@/features/account/components/account-classes";
import { OwnNumbers } from "@/features/profiles/components/own-numbers";
import { capitalise, initialsOf } from "@/lib/format";
import { lazyPart } from "@/lib/lazy-part";
import type { Profile } from "@/lib/session";

// Its libraries are large, and most visits to the page do not edit anything.
const ProfileForm = lazyPart(async () => ({
  default: (await import("@/features/profiles/components/profile-form")).ProfileForm,
}));

interface ProfileSummaryProps {
  profile: Profile;
  email: string | undefined;
}

/** The signed-in user: picture, username, role, e-mail address and numbers, and the short form to change the first two. */
export function ProfileSummary({ profile, email }: ProfileSummaryProps) {
  const [isEditing, setEditing] = useState(false);
  if (isEditing) {
    const close = () => setEditing(false);
    return (
      <Suspense fallback={<LoadingPage />}>
        <ProfileForm
          form="short"
          profile={profile}
          email={email}
          onSaved={close}
          onCancel={close}
        />
      </Suspense>
    );
  }
  return (
    <div className={accountClasses.summary}>
      <Avatar
        key={profile.avatar_url}
        src={profile.avatar_url}
        initials={initialsOf(profile.username, email)}
        size="lg"
      />
      <div className={accountClasses.summaryText}>
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1 max-sm:justify-center">
          <h2 className="break-words font-serif text-heading">
            {profile.username ?? "No username set"}
          </h2>
          <RoleBadge role={profile.role} />
        </div>
        <p className="mt-1 break-words text-ink-soft">{email}</p>
      </div>
      <OwnNumbers userId={profile.id} className={accountClasses.summaryNumbers} />
      <Button variant="primary" onClick={() => setEditing(true)}>
        Edit Profile
      </Button>
    </div>
  );
}

function RoleBadge({ role }: { role: Profile["role"] }) {
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
