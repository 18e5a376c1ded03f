import { Outlet } from "react-router";
import { BottomNav } from "@/app/shell/bottom-nav";
import { LegalLinks } from "@/app/shell/legal-links";
import { PersonalControls } from "@/app/shell/personal-controls";
import { SiteNav } from "@/app/shell/site-nav";
import { SkipLink } from "@/app/shell/skip-link";
import { Wordmark } from "@/app/shell/wordmark";
import { focusSearchBox } from "@/components/search-field";
import { usePageTheme } from "@/lib/theme";
import { useSlashKey } from "@/lib/use-slash-key";

/** Layout of the reading pages: header with navigation and search, page, and on phones the bottom navigation. */
export function SiteLayout() {
  usePageTheme("light");
  useSlashKey(focusSearchBox);
  return (
    <div className="flex min-h-dvh flex-col bg-canvas text-ink">
      <SkipLink />
      <header className="sticky top-0 z-30 border-line border-b bg-canvas/92 backdrop-blur-md">
        <div className="mx-auto flex max-w-7xl items-center gap-3 px-4 py-2 md:px-8">
          <Wordmark />
          <SiteNav />
          <div className="ml-auto flex items-center gap-1.5 max-md:gap-0">
            <PersonalControls />
          </div>
        </div>
      </header>
      <main
        id="main"
        tabIndex={-1}
        // At least as high as the screen, so that the foot is below the edge from the beginning and does not move while the page fills.
        className="mx-auto min-h-dvh w-full max-w-7xl flex-1 px-4 pt-8 pb-16 outline-none md:px-8"
      >
        <Outlet />
      </main>
      <footer className="mx-auto w-full max-w-7xl px-4 max-md:pb-20 md:px-8 md:pb-2">
        <LegalLinks />
      </footer>
      <BottomNav />
    </div>
  );
}
