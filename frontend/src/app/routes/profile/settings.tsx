import { ProfileForm } from "@/features/profiles/components/profile-form";
import { pageTitle } from "@/lib/product";
import { useSession } from "@/lib/session";
import { OwnAccount } from "./own-account";
import { OwnProfile } from "./own-profile";

/** The edit form as a page, at /profile/edit. */
export function Settings() {
  return <SettingsPage title="Settings" />;
}

/** The edit form with export and deletion of the account, at /profile-settings. */
export function ProfileSettings() {
  return <SettingsPage title="Profile Settings" hasAccount />;
}

function SettingsPage({ title, hasAccount = false }: { title: string; hasAccount?: boolean }) {
  const { user } = useSession();
  return (
    <>
      <title>{pageTitle(title)}</title>
      <h1 className="mb-10 font-serif text-display">{title}</h1>
      <OwnProfile>
        {(profile) => (
          <>
            <ProfileForm form="full" profile={profile} email={user?.email} />
            {hasAccount && user !== null && <OwnAccount user={user} profile={profile} />}
          </>
        )}
      </OwnProfile>
    </>
  );
}
