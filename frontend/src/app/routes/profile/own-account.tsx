import type { User } from "@supabase/auth-js";
import { useNavigate } from "react-router";
import { forgetAccount } from "@/features/account/api/delete-account";
import { AccountSection } from "@/features/account/components/account-section";
import { noteOwnSignOut } from "@/lib/own-sign-out";
import { paths } from "@/lib/paths";
import type { Profile } from "@/lib/session";

interface OwnAccountProps {
  user: User;
  profile: Profile;
}

/** Export and deletion of the signed-in user's account. */
export function OwnAccount({ user, profile }: OwnAccountProps) {
  const navigate = useNavigate();

  async function leave() {
    // The guard of the private pages may notice the end of the session first; it then leads to the dashboard, too.
    noteOwnSignOut();
    navigate(paths.explore, { replace: true });
    await forgetAccount(user.id);
  }

  return (
    <AccountSection confirmation={profile.username ?? user.email ?? user.id} onDeleted={leave} />
  );
}
