import { cn } from "@ui/cn";
import { CirclePlus, Compass, Heart, type LucideIcon, Telescope, UserRound } from "lucide-react";
import { Link, useLocation } from "react-router";
import { sectionPath, useExploreParams } from "@/app/routes/explore/explore-params";
import { paths, type ReturnState } from "@/lib/paths";
import { useSession } from "@/lib/session";

/** Navigation at the bottom of the screen, on phones only. */
export function BottomNav() {
  const params = useExploreParams();
  const { user } = useSession();
  const { pathname, search } = useLocation();
  // Only the dashboard has sections; elsewhere the page itself may be the current entry.
  const section = pathname === paths.explore ? params.section : null;
  const from: ReturnState = { from: `${pathname}${search}` };
  return (
    <nav
      aria-label="Sections"
      className="fixed inset-x-0 bottom-0 z-30 border-line border-t bg-canvas/95 pb-safe backdrop-blur-md md:hidden"
    >
      <ul className="mx-auto flex max-w-md">
        <Entry
          to={sectionPath("explore")}
          icon={Compass}
          label="Explore"
          current={
            section !== null &&
            ["explore", "search", "top", "for-you", "following"].includes(section)
          }
        />
        <Entry
          to={paths.discovery}
          icon={Telescope}
          label="Discovery"
          current={pathname === paths.discovery}
        />
        <Entry
          to={user === null ? paths.signUp : paths.createOutfit}
          icon={CirclePlus}
          label="Create"
          current={pathname === paths.createOutfit}
        />
        <Entry to={sectionPath("likes")} icon={Heart} label="Likes" current={section === "likes"} />
        {user === null ? (
          <Entry to={paths.auth} state={from} icon={UserRound} label="Me" current={false} />
        ) : (
          <Entry
            to={paths.myProfile}
            icon={UserRound}
            label="Me"
            current={
              section === "my-outfits" || section === "bookmarks" || pathname === paths.myProfile
            }
          />
        )}
      </ul>
    </nav>
  );
}

interface EntryProps {
  to: string;
  state?: ReturnState;
  icon: LucideIcon;
  label: string;
  current: boolean;
}

function Entry({ to, state, icon: Icon, label, current }: EntryProps) {
  return (
    <li className="flex-1">
      <Link
        to={to}
        state={state}
        aria-current={current ? "page" : undefined}
        className={cn(
          "flex h-15 flex-col items-center justify-center gap-0.5 text-label",
          current ? "text-ink" : "text-ink-soft",
        )}
      >
        <Icon
          aria-hidden="true"
          className={cn("size-5.5", current && "text-accent")}
          strokeWidth={1.6}
        />
        {label}
      </Link>
    </li>
  );
}
