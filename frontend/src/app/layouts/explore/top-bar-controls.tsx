import { useExploreParams } from "@/app/routes/explore/explore-params";
import { AccountMenu } from "@/app/shell/account-menu";
import { FilterMenu } from "./filter-menu";
import { NotificationsMenu } from "./notifications-menu";
import { PeriodMenu } from "./period-menu";

/** What narrows the present section: filter or time range, where either applies. */
export function SectionControls() {
  const { section } = useExploreParams();
  if (section === "explore" || section === "search") return <FilterMenu />;
  if (section === "top") return <PeriodMenu />;
  return null;
}

/** Notifications and account. */
export function PersonalControls() {
  return (
    <>
      <NotificationsMenu />
      <AccountMenu />
    </>
  );
}
