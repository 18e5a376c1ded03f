import { Contrast } from "lucide-react";
import { lazyMenu, MenuButton } from "@/components/ui/menu-button";
import { AccountControl } from "./account-control";
import { headerButton } from "./header-button";
import { NotificationsControl } from "./notifications-control";

const appearanceMenu = lazyMenu(async () => (await import("./appearance-menu")).AppearanceMenu);

/** Notifications, appearance and account, at the end of every layout's header. */
export function PersonalControls() {
  return (
    <>
      <NotificationsControl />
      <MenuButton
        menu={appearanceMenu}
        aria-label="Appearance"
        title="Appearance"
        className={headerButton}
      >
        <Contrast className="size-5" strokeWidth={1.6} />
      </MenuButton>
      <AccountControl />
    </>
  );
}
