import { Heart, UserRound } from "lucide-react";
import type { ReactElement } from "react";
import { Menu, MenuContent, MenuHeading, MenuText } from "@/components/ui/menu";

/** Notifications. The specification asks for two static sample entries. */
export function NotificationsMenu({ trigger }: { trigger: ReactElement }) {
  return (
    <Menu trigger={trigger}>
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
