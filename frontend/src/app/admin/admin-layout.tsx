import { useQuery } from "@tanstack/react-query";
import { cn } from "@ui/cn";
import { IconButton } from "@ui/icon-button";
import { Keyboard } from "lucide-react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { NavLink, useLocation, useNavigate } from "react-router";
import { AccountControl } from "@/app/shell/account-control";
import { SkipLink } from "@/app/shell/skip-link";
import { Wordmark } from "@/app/shell/wordmark";
import { KeyboardHelp } from "@/components/admin/keyboard-help";
import { focusSearchBox } from "@/components/search-field";
import { adminOverviewQuery } from "@/lib/admin-overview";
import { paths } from "@/lib/paths";
import { useShortcut } from "@/lib/use-shortcut";
import { useSlashKey } from "@/lib/use-slash-key";
import { adminSections } from "./sections";

/** Frame of the admin area: sections in a sidebar on large screens, in a strip of tabs on small ones. */
export function AdminLayout({ children }: { children: ReactNode }) {
  const [showsKeys, setShowsKeys] = useState(false);
  useSlashKey(focusSearchBox);
  useShortcut("?", () => setShowsKeys(true));
  useSectionKeys();
  return (
    <>
      <SkipLink />
      <header className="sticky top-0 z-30 flex items-center gap-3 border-line h-14 border-b bg-canvas/95 px-4 backdrop-blur-md lg:px-6">
        <Wordmark />
        <span className="rounded-full border border-line px-2 text-caption text-ink-soft">
          Admin
        </span>
        <div className="ml-auto flex items-center gap-1">
          <span className="pointer-coarse:hidden">
            <IconButton
              label="Keyboard shortcuts"
              aria-keyshortcuts="?"
              onClick={() => setShowsKeys(true)}
            >
              <Keyboard className="size-5" strokeWidth={1.6} />
            </IconButton>
          </span>
          <AccountControl />
        </div>
      </header>
      <div className="lg:grid lg:grid-cols-[13rem_minmax(0,1fr)]">
        <SectionNav />
        <main
          id="main"
          tabIndex={-1}
          className="mx-auto w-full max-w-[84rem] px-4 pt-5 pb-16 outline-none lg:px-8"
        >
          {children}
        </main>
      </div>
      {showsKeys && <KeyboardHelp onClose={() => setShowsKeys(false)} />}
    </>
  );
}

/** What waits in a section: its figure, and what is to be done. */
const waiting: Readonly<Record<string, { figure: "pending" | "reports"; todo: string }>> = {
  combines: { figure: "pending", todo: "to review" },
  reports: { figure: "reports", todo: "to decide" },
};

/** How much waits in a section; nothing where nothing does. */
function WaitingBadge({ section }: { section: string }) {
  const { data: overview } = useQuery(adminOverviewQuery());
  const subject = waiting[section];
  const count = subject === undefined ? 0 : (overview?.[subject.figure] ?? 0);
  if (count === 0) return null;
  return (
    <span className="ml-auto rounded-full bg-ink px-2 text-canvas text-label tabular-nums">
      {count}
      <span className="sr-only"> {subject?.todo}</span>
    </span>
  );
}

/** The comma and the full stop, which every keyboard has as keys of their own, lead to the section above and below. */
function useSectionKeys(): void {
  const { pathname } = useLocation();
  const navigate = useNavigate();
  const place = adminSections.findIndex(({ path }) => paths.admin(path) === pathname);
  function open(index: number) {
    const section = adminSections[index];
    if (place !== -1 && section !== undefined) navigate(paths.admin(section.path));
  }
  useShortcut(",", () => open(place - 1));
  useShortcut(".", () => open(place + 1));
}

function SectionNav() {
  const strip = useRef<HTMLUListElement>(null);
  const { pathname } = useLocation();
  const { data: overview } = useQuery(adminOverviewQuery());
  // On phones the strip is wider than the screen: the current tab is scrolled into view.
  useEffect(() => {
    // Runs again when the numbers in the tabs arrive, because they make the strip wider and move the current tab out of sight.
    void overview;
    const current = strip.current?.querySelector(`[href="${pathname}"]`);
    current?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [pathname, overview]);
  return (
    <nav
      aria-label="Admin sections"
      className="sticky top-[3.5rem] z-20 border-line bg-canvas max-lg:border-b lg:h-[calc(100dvh-3.5rem)] lg:overflow-y-auto lg:border-r lg:p-3"
    >
      <ul
        ref={strip}
        className="no-scrollbar flex gap-0.5 max-lg:overflow-x-auto max-lg:px-3 lg:flex-col"
      >
        {adminSections.map(({ path, label, icon: Icon }) => (
          <li key={path} className="shrink-0">
            <NavLink
              to={paths.admin(path)}
              className={({ isActive }) =>
                cn(
                  // `relative` keeps the badge's hidden words in the strip: they would make the page as wide as the strip scrolls.
                  "relative flex h-11 items-center gap-2.5 px-3 text-small transition-colors max-lg:font-medium lg:h-9 lg:rounded-md",
                  isActive
                    ? "font-medium text-ink max-lg:border-accent max-lg:border-b-2 lg:bg-sheen"
                    : "text-ink-soft hover:text-ink lg:hover:bg-sheen",
                )
              }
            >
              <Icon aria-hidden="true" className="size-4 max-lg:hidden" strokeWidth={1.7} />
              {label}
              <WaitingBadge section={path} />
            </NavLink>
          </li>
        ))}
      </ul>
    </nav>
  );
}
