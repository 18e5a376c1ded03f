import {
  Bookmark,
  IdCard,
  LayoutGrid,
  LogOut,
  Settings,
  Settings2,
  Shirt,
  UserRound,
} from "lucide-react";
import type { ReactElement } from "react";
import { useNavigate } from "react-router";
import { sectionPath } from "@/app/routes/explore/explore-params";
import { Menu, MenuContent, MenuItem, MenuSeparator, MenuText } from "@/components/ui/menu";
import { useSignOut } from "@/features/auth/api/sign-out";
import { paths } from "@/lib/paths";
import { useSession } from "@/lib/session";

/** Account menu of a signed-in user. */
export function AccountMenu({ trigger }: { trigger: ReactElement }) {
  const { user, profile, isAdmin } = useSession();
  const navigate = useNavigate();
  const signOut = useSignOut();
  const username = profile?.username ?? null;

  async function leave() {
    // First navigates to a public page, because on a private one the guard would show the sign-in page when the session
    // ends.
    await navigate(paths.explore, { flushSync: true });
    signOut.mutate("local");
  }

  return (
    <Menu trigger={trigger}>
      <MenuContent label="Account">
        <MenuText>
          <span className="min-w-0">
            <span className="block truncate font-medium">
              {profile?.full_name || username || "User"}
            </span>
            <span className="block truncate text-caption text-ink-soft">{user?.email}</span>
          </span>
        </MenuText>
        <MenuSeparator />
        <MenuItem onSelect={() => navigate(paths.myProfile)}>
          <UserRound strokeWidth={1.6} />
          My Account
        </MenuItem>
        {username !== null && (
          <MenuItem onSelect={() => navigate(paths.profile(username))}>
            <IdCard strokeWidth={1.6} />
            Profile
          </MenuItem>
        )}
        <MenuItem
          onSelect={() => navigate(username === null ? paths.myProfile : paths.profile(username))}
        >
          <LayoutGrid strokeWidth={1.6} />
          Combines
        </MenuItem>
        <MenuItem onSelect={() => navigate(sectionPath("my-outfits"))}>
          <Shirt strokeWidth={1.6} />
          My outfits
        </MenuItem>
        <MenuItem onSelect={() => navigate(sectionPath("bookmarks"))}>
          <Bookmark strokeWidth={1.6} />
          Bookmarks
        </MenuItem>
        <MenuItem onSelect={() => navigate(paths.editProfile)}>
          <Settings strokeWidth={1.6} />
          Settings
        </MenuItem>
        {isAdmin && (
          <MenuItem onSelect={() => navigate(paths.admin("dashboard"))}>
            <Settings2 strokeWidth={1.6} />
            Admin
          </MenuItem>
        )}
        <MenuSeparator />
        <MenuItem onSelect={leave}>
          <LogOut strokeWidth={1.6} />
          Sign out
        </MenuItem>
      </MenuContent>
    </Menu>
  );
}
