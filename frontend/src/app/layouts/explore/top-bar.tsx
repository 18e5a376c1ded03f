import { PersonalControls } from "@/app/shell/personal-controls";
import { Wordmark } from "@/app/shell/wordmark";
import { SearchBox } from "./search-box";
import { SectionControls } from "./section-controls";
import { SectionTabs } from "./section-tabs";

/** Controls of the section and of the account; on phones also the wordmark, the search box and the sections. */
export function TopBar() {
  return (
    <header className="sticky top-0 z-30 bg-canvas/92 px-4 py-2 backdrop-blur-md md:px-8 md:py-3">
      <div className="flex h-11 items-center gap-1.5">
        <Wordmark className="md:hidden" />
        <div className="ml-auto flex items-center gap-1.5 max-md:gap-0">
          <div className="max-md:hidden">
            <SectionControls />
          </div>
          <PersonalControls />
        </div>
      </div>
      <div className="mt-1.5 flex h-11 items-center gap-2 md:hidden">
        <SearchBox className="flex-1" />
        <SectionControls />
      </div>
      <SectionTabs />
    </header>
  );
}
