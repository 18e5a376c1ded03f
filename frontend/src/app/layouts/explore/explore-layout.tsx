import { useCallback, useState } from "react";
import { flushSync } from "react-dom";
import { Outlet } from "react-router";
import { BottomNav } from "@/app/shell/bottom-nav";
import { SkipLink } from "@/app/shell/skip-link";
import { focusSearchBox } from "@/components/search-field";
import { usePageTheme } from "@/lib/theme";
import { useSlashKey } from "@/lib/use-slash-key";
import { Sidebar } from "./sidebar";
import { readCollapsed, storeCollapsed } from "./sidebar-state";
import { TopBar } from "./top-bar";

/** Layout of the dark dashboard: sidebar, top bar and page; on phones a bottom navigation replaces the sidebar. */
export function ExploreLayout() {
  usePageTheme("dark");
  const [collapsed, setCollapsed] = useState(readCollapsed);

  function changeCollapsed(next: boolean) {
    storeCollapsed(next);
    setCollapsed(next);
  }

  const openSearch = useCallback(() => {
    // Only the expanded sidebar has a search box, so it must be rendered before it can be focused.
    flushSync(() => setCollapsed(false));
    focusSearchBox();
  }, []);

  useSlashKey(openSearch);

  return (
    <div className="flex min-h-dvh bg-canvas text-ink">
      <SkipLink />
      <Sidebar collapsed={collapsed} onCollapsedChange={changeCollapsed} onSearch={openSearch} />
      <div className="min-w-0 flex-1">
        <TopBar />
        <main
          id="main"
          tabIndex={-1}
          className="mx-auto max-w-[110rem] px-4 pt-4 pb-28 outline-none md:px-8 md:pt-6 md:pb-16"
        >
          <Outlet />
        </main>
      </div>
      <BottomNav />
    </div>
  );
}
