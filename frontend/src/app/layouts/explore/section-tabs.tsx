import { cn } from "@ui/cn";
import { Link } from "react-router";
import { type Section, sectionPath, useExploreParams } from "@/app/routes/explore/explore-params";
import { useSession } from "@/lib/session";

const tabs: readonly { section: Section; label: string }[] = [
  { section: "explore", label: "Newest" },
  { section: "top", label: "Top" },
];
const tabsOfUser: typeof tabs = [
  ...tabs,
  { section: "for-you", label: "For you" },
  { section: "following", label: "Following" },
];

/** The sections with a list of many people's outfits on phones, where the sidebar is hidden. */
export function SectionTabs() {
  const { section } = useExploreParams();
  const { user } = useSession();
  if (!tabsOfUser.some((tab) => tab.section === section)) return null;
  return (
    <nav aria-label="Lists" className="-mb-1 flex gap-6 md:hidden">
      {(user === null ? tabs : tabsOfUser).map((tab) => (
        <Link
          key={tab.section}
          to={sectionPath(tab.section)}
          aria-current={section === tab.section ? "page" : undefined}
          className={cn(
            "inline-flex h-11 min-w-11 items-center text-small",
            section === tab.section ? "font-medium text-ink" : "text-ink-soft",
          )}
        >
          <span
            className={cn(
              "border-b-2 py-1",
              section === tab.section ? "border-accent" : "border-transparent",
            )}
          >
            {tab.label}
          </span>
        </Link>
      ))}
    </nav>
  );
}
