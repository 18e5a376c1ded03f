import type { User } from "@supabase/auth-js";
import { Suspense } from "react";
import { useLocation, useNavigate } from "react-router";
import { forgetAccount } from "@/features/account/api/delete-account";
import { AccountSection } from "@/features/account/components/account-section";
import { useSignOut } from "@/features/auth/api/sign-out";
import { lazyPart } from "@/lib/lazy-part";
import { noteOwnSignOut } from "@/lib/own-sign-out";
import { paths } from "@/lib/paths";
import type { Profile } from "@/lib/session";

const SignInAgainDialog = lazyPart(
  async () => ({
    default: (await import("@/features/auth/components/sign-in-again-dialog")).SignInAgainDialog,
  }),
  "overlay",
);

const BlockedPeople = lazyPart(
  async () => ({
    default: (await import("@/features/blocks/components/blocked-people")).BlockedPeople,
  }),
  "nothing",
);

const MailNotices = lazyPart(
  async () => ({
    default: (await import("@/features/mail-settings/components/mail-notices")).MailNotices,
  }),
  "nothing",
);

interface OwnAccountProps {
  user: User;
  profile: Profile;
}

/** Export and deletion of the signed-in user's account, which mails they want, and whom they have blocked. */
export function OwnAccount({ user, profile }: OwnAccountProps) {
  const navigate = useNavigate();
  const signOut = useSignOut();
  const { pathname, search } = useLocation();

  async function leave() {
    // The guard of the private pages may notice the end of the session first; it then leads to the dashboard, too.
    noteOwnSignOut();
    navigate(paths.explore, { replace: true });
    await forgetAccount(user.id);
  }

  async function signOutEverywhere() {
    await navigate(paths.explore, { flushSync: true });
    signOut.mutate("global");
  }

  return (
    <>
      <AccountSection
        onSignOutEverywhere={() => void signOutEverywhere()}
        confirmation={profile.username ?? user.email ?? user.id}
        renderSignInAgain={(dialog) => (
          <SignInAgainDialog
            email={user.email}
            methods={user.app_metadata.providers ?? []}
            returnPath={`${pathname}${search}`}
            {...dialog}
          />
        )}
        onDeleted={leave}
      />
      <Suspense>
        <MailNotices userId={user.id} />
        <BlockedPeople userId={user.id} />
      </Suspense>
    </>
  );
}
