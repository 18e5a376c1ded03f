import { ProfileForm } from "@/features/profiles/components/profile-form";
import { pageTitle } from "@/lib/product";
import { useSession } from "@/lib/session";
import { OwnProfile } from "./own-profile";

/** The edit form as a page, at /profile/edit. */
export function Settings() {
  return <SettingsPage title="Settings" />;
}

/** The same at /profile-settings. */
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
        {(profile) => <ProfileForm form="full" profile={profile} email={user?.email} />}
      </OwnProfile>
    </>
  );
}
