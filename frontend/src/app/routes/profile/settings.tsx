import { accountClasses } from "@/features/account/components/account-classes";
import { ProfileForm } from "@/features/profiles/components/profile-form";
import { pageTitle } from "@/lib/product";
import { useSession } from "@/lib/session";
import { OwnAccount } from "./own-account";
import { OwnProfile } from "./own-profile";

/** Settings, at /profile/edit: the edit form, and what can be done with the account. */
export function Settings() {
  return <SettingsPage title="Settings" />;
}

/** The same at its second address, /profile-settings. */
export function ProfileSettings() {
  return <SettingsPage title="Profile Settings" />;
}

function SettingsPage({ title }: { title: string }) {
  const { user } = useSession();
  return (
    <>
      <title>{pageTitle(title)}</title>
      <h1 className="mb-10 font-serif text-display">{title}</h1>
      <OwnProfile>
        {(profile) => (
          <div className={accountClasses.columns}>
            <ProfileForm form="full" profile={profile} email={user?.email} />
            {user !== null && (
              <div data-beside="">
                <OwnAccount user={user} profile={profile} />
              </div>
            )}
          </div>
        )}
      </OwnProfile>
    </>
  );
}
