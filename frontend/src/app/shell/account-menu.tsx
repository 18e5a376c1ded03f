import { Bookmark, LogOut, Shirt, UserRound } from "lucide-react";
import { Link, useLocation, useNavigate } from "react-router";
import { sectionPath } from "@/app/routes/explore/explore-params";
import { Avatar } from "@/components/ui/avatar";
import { Button } from "@/components/ui/button";
import {
  Menu,
  MenuContent,
  MenuItem,
  MenuSeparator,
  MenuText,
  MenuTrigger,
} from "@/components/ui/menu";
import { useSignOut } from "@/features/auth/api/sign-out";
import { initialsOf } from "@/lib/format";
import { paths, type ReturnState } from "@/lib/paths";
import { useSession } from "@/lib/session";

/** The avatar with its menu, or the way to sign in. Keeps its width while that is not known yet. */
export function AccountMenu() {
  const { user, profile, isLoading } = useSession();
  const location = useLocation();
  const navigate = useNavigate();
  const signOut = useSignOut();

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
    <Menu>
      <MenuTrigger className="inline-flex size-11 items-center justify-center rounded-full">
        <span className="sr-only">Account menu of {name}</span>
        <Avatar src={profile?.avatar_url} initials={initialsOf(username, user.email)} size="md" />
      </MenuTrigger>
      <MenuContent>
        <MenuText>
          <span className="min-w-0">
            <span className="block truncate font-medium">{name}</span>
            <span className="block truncate text-caption text-ink-soft">{user.email}</span>
          </span>
        </MenuText>
        <MenuSeparator />
        {username !== null && (
          <MenuItem onSelect={() => navigate(paths.profile(username))}>
            <UserRound strokeWidth={1.6} />
            Combines
          </MenuItem>
        )}
        <MenuItem onSelect={() => navigate(sectionPath("my-outfits"))}>
          <Shirt strokeWidth={1.6} />
          My outfits
        </MenuItem>
        <MenuItem onSelect={() => navigate(sectionPath("bookmarks"))}>
          <Bookmark strokeWidth={1.6} />
          Bookmarks
        </MenuItem>
        <MenuSeparator />
        <MenuItem
          onSelect={() => signOut.mutate(undefined, { onSuccess: () => navigate(paths.explore) })}
        >
          <LogOut strokeWidth={1.6} />
          Sign out
        </MenuItem>
      </MenuContent>
    </Menu>
  );
}
