import { useCallback, useEffect, useState } from "react";
import { flushSync } from "react-dom";
import { Outlet } from "react-router";
import { BottomNav } from "@/app/shell/bottom-nav";
import { SkipLink } from "@/app/shell/skip-link";
import { useLight } from "@/lib/light";
import { focusSearchBox } from "./search-box";
import { Sidebar } from "./sidebar";
import { TopBar } from "./top-bar";

const collapsedKey = "lookbook:sidebar-collapsed";

/** As it was left; at first narrow where the grid needs the width. */
function startsCollapsed(): boolean {
  const stored = localStorage.getItem(collapsedKey);
  return stored === null ? window.innerWidth < 1024 : stored === "true";
}

/** The dark dashboard: sidebar, top bar, content; on phones the sidebar becomes the bottom navigation. */
export function ExploreLayout() {
  useLight("dark");
  const [collapsed, setCollapsed] = useState(startsCollapsed);

  function changeCollapsed(next: boolean) {
    localStorage.setItem(collapsedKey, String(next));
    setCollapsed(next);
  }

  const openSearch = useCallback(() => {
    // The box exists in the open sidebar only.
    flushSync(() => setCollapsed(false));
    focusSearchBox();
  }, []);

  useEffect(() => {
    function searchBySlash(event: KeyboardEvent) {
      if (event.key !== "/" || event.metaKey || event.ctrlKey || event.altKey) return;
      if (isTyping(event.target) || document.querySelector('[role="dialog"]') !== null) return;
      event.preventDefault();
      openSearch();
    }
    document.addEventListener("keydown", searchBySlash);
    return () => document.removeEventListener("keydown", searchBySlash);
  }, [openSearch]);

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

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.closest("input, textarea, select") !== null)
  );
}
