import { Button } from "@ui/button";
import { Link, useLocation } from "react-router";
import { Avatar } from "@/components/ui/avatar";
import { lazyMenu, MenuButton } from "@/components/ui/menu-button";
import { initialsOf } from "@/lib/format";
import { paths, type ReturnState } from "@/lib/paths";
import { useSession } from "@/lib/session";

const accountMenu = lazyMenu(async () => (await import("./account-menu")).AccountMenu);

/** Avatar with the account menu, or a Sign In button. A placeholder keeps the width until the session is known. */
export function AccountControl() {
  const { user, profile, isLoading } = useSession();
  const location = useLocation();
  if (isLoading) return <span aria-hidden="true" className="h-11 w-22" />;
  if (user === null) {
    const state: ReturnState = { from: `${location.pathname}${location.search}` };
    return (
      <Button variant="primary" asChild>
        <Link to={paths.auth} state={state}>
          Sign In
        </Link>
      </Button>
    );
  }
  const username = profile?.username ?? null;
  const name = profile?.full_name || username || "User";
  return (
    <MenuButton
      menu={accountMenu}
      className="inline-flex size-11 items-center justify-center rounded-full"
    >
      <span className="sr-only">Account menu of {name}</span>
      <Avatar src={profile?.avatar_url} initials={initialsOf(username, user.email)} size="md" />
    </MenuButton>
  );
}
