import { lazy, Suspense } from "react";
import { useExploreParams } from "@/app/routes/explore/explore-params";
import { Wordmark } from "@/app/shell/wordmark";
import { SearchBox } from "./search-box";

// Menus come right after the first paint: nobody opens one before there is something to see.
const controls = () => import("./top-bar-controls");
const SectionControls = lazy(async () => ({ default: (await controls()).SectionControls }));
const PersonalControls = lazy(async () => ({ default: (await controls()).PersonalControls }));

/** What narrows the section, and who is here. On phones also the name and the search. */
export function TopBar() {
  const { section } = useExploreParams();
  return (
    <header className="sticky top-0 z-30 bg-canvas/92 px-4 py-2 backdrop-blur-md md:px-8 md:py-3">
      <div className="flex h-11 items-center gap-1.5">
        <Wordmark className="md:hidden" />
        <div className="ml-auto flex items-center gap-1.5">
          <Suspense>
            <div className="max-md:hidden">
              <SectionControls />
            </div>
            <PersonalControls />
          </Suspense>
        </div>
      </div>
      <div className="mt-1.5 flex h-11 items-center gap-2 md:hidden">
        <SearchBox className="flex-1" />
        <Suspense fallback={section === "explore" ? <span className="w-11" /> : null}>
          <SectionControls />
        </Suspense>
      </div>
    </header>
  );
}
