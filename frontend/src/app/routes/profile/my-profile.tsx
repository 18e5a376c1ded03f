import { LoadingPage } from "@ui/spinner";
import { ExternalLink } from "lucide-react";
import { type ReactNode, Suspense } from "react";
import { Link } from "react-router";
import { TabList } from "@/components/ui/tab-list";
import * as Tabs from "@/components/ui/tabs";
import { accountClasses } from "@/features/account/components/account-classes";
import { lazyPart } from "@/lib/lazy-part";
import { paths } from "@/lib/paths";
import { pageTitle } from "@/lib/product";
import { useSession } from "@/lib/session";
import { OwnAccount } from "./own-account";
import { OwnProfile } from "./own-profile";
import { ProfileSummary } from "./profile-summary";
import { type ProfileTab, profileTabs } from "./profile-tab-list";
import { useProfileTab } from "./profile-tabs";

const ProfileForm = lazyPart(async () => ({
  default: (await import("@/features/profiles/components/profile-form")).ProfileForm,
}));

const OutfitsTab = lazyPart(async () => ({ default: (await import("./outfits-tab")).OutfitsTab }));

const FavoritesTab = lazyPart(async () => ({
  default: (await import("./favorites-tab")).FavoritesTab,
}));

const TrainingImagesTab = lazyPart(async () => ({
  default: (await import("./training-images-tab")).TrainingImagesTab,
}));

/** The signed-in user's own area, at /profile. */
export function MyProfile() {
  const { user, profile } = useSession();
  const [tab, openTab] = useProfileTab();
  if (user === null) return null;
  return (
    <>
      <title>{pageTitle("My Profile")}</title>
      <div className="flex flex-wrap items-baseline justify-between gap-x-8 gap-y-2">
        <h1 className="font-serif text-display">My Profile</h1>
        {profile?.username && (
          <Link
            to={paths.profile(profile.username)}
            className="inline-flex min-h-11 items-center gap-2 text-ink-soft text-small underline decoration-line-strong underline-offset-4 hover:text-ink"
          >
            See Public Profile
            <ExternalLink aria-hidden="true" className="size-4" strokeWidth={1.6} />
          </Link>
        )}
      </div>
      <Tabs.Root value={tab} onValueChange={openTab} activationMode="manual" className="mt-8">
        <TabList label="My Profile" tabs={profileTabs} />
        <Panel value="profile">
          <OwnProfile>
            {(own) => (
              <div className={accountClasses.profileColumns}>
                <ProfileSummary profile={own} email={user.email} />
                <div data-wide="">
                  <OwnAccount user={user} profile={own} />
                </div>
              </div>
            )}
          </OwnProfile>
        </Panel>
        <Panel value="training-images">
          <Suspense fallback={<LoadingPage />}>
            <TrainingImagesTab userId={user.id} />
          </Suspense>
        </Panel>
        <Panel value="outfits">
          <Suspense fallback={<LoadingPage />}>
            <OutfitsTab userId={user.id} list="outfits" />
          </Suspense>
        </Panel>
        <Panel value="submissions">
          <Suspense fallback={<LoadingPage />}>
            <OutfitsTab userId={user.id} list="submissions" />
          </Suspense>
        </Panel>
        <Panel value="edit">
          <Suspense fallback={<LoadingPage />}>
            <OwnProfile>
              {(own) => <ProfileForm form="full" profile={own} email={user.email} />}
            </OwnProfile>
          </Suspense>
        </Panel>
        <Panel value="favorites">
          <Suspense fallback={<LoadingPage />}>
            <FavoritesTab userId={user.id} />
          </Suspense>
        </Panel>
      </Tabs.Root>
    </>
  );
}

function Panel({ value, children }: { value: ProfileTab; children: ReactNode }) {
  return (
    <Tabs.Content value={value} tabIndex={-1} className="pt-10 outline-none max-md:pt-7">
      {children}
    </Tabs.Content>
  );
}
