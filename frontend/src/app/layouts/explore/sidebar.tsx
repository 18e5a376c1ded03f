import { Button } from "@ui/button";
import { cn } from "@ui/cn";
import { IconButton } from "@ui/icon-button";
import {
  Bookmark,
  CirclePlus,
  Compass,
  ExternalLink,
  Heart,
  type LucideIcon,
  PanelLeftClose,
  PanelLeftOpen,
  Search,
  Shirt,
  Sparkles,
  Telescope,
  TrendingUp,
  UsersRound,
} from "lucide-react";
import type { ReactNode } from "react";
import { Link } from "react-router";
import { type Section, sectionPath, useExploreParams } from "@/app/routes/explore/explore-params";
import { LegalLinks } from "@/app/shell/legal-links";
import { Wordmark } from "@/app/shell/wordmark";
import { paths } from "@/lib/paths";
import { useSession } from "@/lib/session";
import { SearchBox } from "./search-box";

interface SidebarProps {
  collapsed: boolean;
  onCollapsedChange: (collapsed: boolean) => void;
  /** Expands the sidebar and focuses its search box. */
  onSearch: () => void;
}

/** The dashboard's navigation on tablets and wider: 64 pixels collapsed, 256 expanded. */
export function Sidebar({ collapsed, onCollapsedChange, onSearch }: SidebarProps) {
  const { user } = useSession();
  return (
    <aside
      aria-label="Sidebar"
      className={cn(
        "sticky top-0 flex h-dvh shrink-0 flex-col border-line border-r transition-[width] max-md:hidden",
        collapsed ? "w-16 items-center px-2.5 py-4" : "w-64 px-4 py-4",
      )}
    >
      <div className={cn("flex items-center justify-between", collapsed && "flex-col gap-1")}>
        <Wordmark short={collapsed} className={collapsed ? "" : "pl-2"} />
        <IconButton
          label={collapsed ? "Expand sidebar" : "Collapse sidebar"}
          aria-expanded={!collapsed}
          onClick={() => onCollapsedChange(!collapsed)}
        >
          {collapsed ? (
            <PanelLeftOpen className="size-5" strokeWidth={1.5} />
          ) : (
            <PanelLeftClose className="size-5" strokeWidth={1.5} />
          )}
        </IconButton>
        {collapsed && (
          <IconButton label="Search outfits" onClick={onSearch}>
            <Search className="size-5" strokeWidth={1.6} />
          </IconButton>
        )}
      </div>
      {!collapsed && (
        <div className="mt-4">
          <SearchBox />
        </div>
      )}
      <nav aria-label="Sections" className="mt-5 flex w-full flex-col gap-1">
        <SectionLink section="explore" icon={Compass} label="Explore" collapsed={collapsed} />
        <SidebarLink
          to={paths.discovery}
          icon={Telescope}
          label="Discovery"
          collapsed={collapsed}
        />
        {user !== null && (
          <>
            <SectionLink section="for-you" icon={Sparkles} label="For you" collapsed={collapsed} />
            <SectionLink
              section="following"
              icon={UsersRound}
              label="Following"
              collapsed={collapsed}
            />
          </>
        )}
        {user !== null && (
          <SidebarLink
            to={paths.createOutfit}
            icon={CirclePlus}
            label="Create Outfit"
            collapsed={collapsed}
          />
        )}
        {user !== null && (
          <SectionLink section="likes" icon={Heart} label="Likes" collapsed={collapsed} />
        )}
        <SectionLink section="top" icon={TrendingUp} label="Top" collapsed={collapsed} />
        {user !== null && (
          <>
            <p
              id="library-label"
              className={cn("mt-6 mb-1 px-3 text-ink-soft text-label", collapsed && "sr-only")}
            >
              Library
            </p>
            <SectionLink
              section="my-outfits"
              icon={Shirt}
              label="My outfits"
              collapsed={collapsed}
            />
            <SectionLink
              section="bookmarks"
              icon={Bookmark}
              label="Bookmarks"
              collapsed={collapsed}
            />
          </>
        )}
      </nav>
      <div className="mt-auto w-full">
        <SidebarFoot collapsed={collapsed} />
      </div>
    </aside>
  );
}

interface SidebarEntryProps {
  icon: LucideIcon;
  label: string;
  collapsed: boolean;
}

function SectionLink({ section, ...entry }: SidebarEntryProps & { section: Section }) {
  const current = useExploreParams().section === section;
  return <SidebarLink to={sectionPath(section)} current={current} {...entry} />;
}

interface SidebarLinkProps extends SidebarEntryProps {
  to: string;
  current?: boolean;
}

function SidebarLink({ to, icon: Icon, label, collapsed, current = false }: SidebarLinkProps) {
  return (
    <Link
      to={to}
      aria-current={current ? "page" : undefined}
      title={collapsed ? label : undefined}
      className={cn(
        "flex h-11 items-center gap-3.5 rounded-md px-3 text-small transition-colors",
        current ? "bg-sheen font-medium text-ink" : "text-ink-soft hover:bg-sheen hover:text-ink",
        collapsed && "justify-center px-0",
      )}
    >
      <Icon
        aria-hidden="true"
        className={cn("size-5 shrink-0", current && "text-accent")}
        strokeWidth={1.6}
      />
      <span className={cn(collapsed && "sr-only")}>{label}</span>
    </Link>
  );
}

/** The user's public address, or an invitation to sign up. */
function SidebarFoot({ collapsed }: { collapsed: boolean }): ReactNode {
  const { user, profile, isLoading } = useSession();
  if (isLoading || collapsed) return null;
  if (user === null) {
    return (
      <>
        <Button className="w-full" asChild>
          <Link to={paths.signUp}>Create Your Page</Link>
        </Button>
        <LegalLinks className="-mb-3 px-2" />
      </>
    );
  }
  const username = profile?.username;
  return (
    <div className="flex flex-col gap-3">
      <Button className="w-full" asChild>
        <Link to={paths.myProfile}>Edit Your Page</Link>
      </Button>
      {username && <YourPage username={username} />}
    </div>
  );
}

/** The public address of the user's page. */
function YourPage({ username }: { username: string }) {
  return (
    <Link
      to={paths.profile(username)}
      className="group flex items-center justify-between gap-3 rounded-md border border-line px-4 py-3 transition-colors hover:border-ink-soft"
    >
      <span className="min-w-0">
        <span className="block text-caption text-ink-soft">Your page</span>
        <span className="block truncate text-ink text-small">
          {window.location.host}/{username}
        </span>
      </span>
      <ExternalLink
        aria-hidden="true"
        className="size-4 shrink-0 text-ink-soft group-hover:text-ink"
        strokeWidth={1.6}
      />
    </Link>
  );
}
