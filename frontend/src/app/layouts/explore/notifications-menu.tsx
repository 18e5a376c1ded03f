import { Bell, Heart, UserRound } from "lucide-react";
import { Menu, MenuContent, MenuHeading, MenuText, MenuTrigger } from "@/components/ui/menu";

/** Two sample entries, until there are real ones to show. */
export function NotificationsMenu() {
  return (
    <Menu>
      <MenuTrigger
        aria-label="Notifications"
        title="Notifications"
        className="inline-flex size-11 items-center justify-center rounded-full text-ink-soft transition-colors hover:bg-sheen hover:text-ink"
      >
        <Bell className="size-5" strokeWidth={1.6} />
      </MenuTrigger>
      <MenuContent>
        <MenuHeading>Notifications</MenuHeading>
        <MenuText>
          <Heart aria-hidden="true" className="size-4 text-ink-soft" strokeWidth={1.6} />
          New outfit liked
        </MenuText>
        <MenuText>
          <UserRound aria-hidden="true" className="size-4 text-ink-soft" strokeWidth={1.6} />
          New follower
        </MenuText>
      </MenuContent>
    </Menu>
  );
}
