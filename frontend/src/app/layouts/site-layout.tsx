import { Outlet } from "react-router";
import { AccountMenu } from "@/app/shell/account-menu";
import { BottomNav } from "@/app/shell/bottom-nav";
import { SkipLink } from "@/app/shell/skip-link";
import { Wordmark } from "@/app/shell/wordmark";
import { useLight } from "@/lib/light";

/** The paper-light reading pages: a name, an account, and the page. */
export function SiteLayout() {
  useLight("paper");
  return (
    <div className="flex min-h-dvh flex-col bg-canvas text-ink">
      <SkipLink />
      <header className="sticky top-0 z-30 border-line border-b bg-canvas/92 backdrop-blur-md">
        <div className="mx-auto flex max-w-7xl items-center justify-between px-4 py-2 md:px-8">
          <Wordmark />
          <AccountMenu />
        </div>
      </header>
      <main
        id="main"
        tabIndex={-1}
        className="mx-auto w-full max-w-7xl flex-1 px-4 pt-8 pb-28 outline-none md:pb-16 md:px-8"
      >
        <Outlet />
      </main>
      <BottomNav />
    </div>
  );
}
