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

/**
 * The sections with a list of many people's outfits on phones, where the sidebar is hidden. The line is the header's lower edge. Each
 * tab has the same space at its sides, so that the gaps are even whatever the words are; one weight for all of them, so that nothing
 * moves when another one is chosen.
 */
export function SectionTabs() {
  const { section } = useExploreParams();
  const { user } = useSession();
  if (!tabsOfUser.some((tab) => tab.section === section)) return null;
  return (
    <nav aria-label="Lists" className="-mx-4 -mb-2 mt-1 flex border-line border-b px-1 md:hidden">
      {(user === null ? tabs : tabsOfUser).map((tab) => {
        const isCurrent = section === tab.section;
        return (
          <Link
            key={tab.section}
            to={sectionPath(tab.section)}
            aria-current={isCurrent ? "page" : undefined}
            className={cn(
              "-mb-px flex h-11 px-3 font-medium text-small outline-offset-[-3px]",
              isCurrent ? "text-ink" : "text-ink-soft",
            )}
          >
            <span
              className={cn(
                "flex items-center border-b-2",
                isCurrent ? "border-accent" : "border-transparent",
              )}
            >
              {tab.label}
            </span>
          </Link>
        );
      })}
    </nav>
  );
}
