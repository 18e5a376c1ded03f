import { useMediaQuery } from "@ui/use-media-query";
import { ChevronDown, SlidersHorizontal } from "lucide-react";
import { Suspense, useState } from "react";
import { useExploreParams } from "@/app/routes/explore/explore-params";
import { lazyMenu, MenuButton } from "@/components/ui/menu-button";
import { topPeriods } from "@/features/outfits/api/list-top-outfits";
import { lazyPart } from "@/lib/lazy-part";

const filterMenu = lazyMenu(async () => (await import("./filter-menu")).FilterMenu);
const periodMenu = lazyMenu(async () => (await import("./period-menu")).PeriodMenu);
const FilterSheet = lazyPart(
  async () => ({ default: (await import("./filter-sheet")).FilterSheet }),
  "overlay",
);

/** The control of the current section: gender filter or time range; none for the others. */
export function SectionControls() {
  const { section } = useExploreParams();
  if (section === "explore" || section === "search") return <GenderFilter />;
  if (section === "top") return <Period />;
  return null;
}

const pill =
  "inline-flex h-11 items-center justify-center rounded-full border border-line text-ink text-small whitespace-nowrap transition-colors hover:border-ink-soft";

/** A menu on wide screens, a bottom sheet on phones. */
function GenderFilter() {
  const count = useExploreParams().genders.length;
  const isWide = useMediaQuery("(min-width: 48rem)");
  const [isSheetOpen, setSheetOpen] = useState(false);
  const label = count === 0 ? "Filter" : `Filter, ${count} chosen`;
  const icon = <SlidersHorizontal aria-hidden="true" className="size-4.5" strokeWidth={1.6} />;
  if (isWide) {
    return (
      <MenuButton menu={filterMenu} aria-label={label} className={`${pill} gap-2.5 px-4`}>
        {icon}
        <span>Filter</span>{" "}
        {count > 0 && <span className="text-ink-soft tabular-nums">{count}</span>}
      </MenuButton>
    );
  }
  return (
    <>
      <button
        type="button"
        aria-haspopup="dialog"
        aria-label={label}
        onClick={() => setSheetOpen(true)}
        className={`${pill} w-11`}
      >
        <span className="relative">
          {icon}
          {count > 0 && <span className="absolute -top-1 -right-1 size-2 rounded-full bg-accent" />}
        </span>
      </button>
      {isSheetOpen && (
        <Suspense>
          <FilterSheet onClose={() => setSheetOpen(false)} />
        </Suspense>
      )}
    </>
  );
}

/** The time range of the Top section. */
function Period() {
  const { period } = useExploreParams();
  const label = topPeriods.find(({ value }) => value === period)?.label ?? "";
  return (
    <MenuButton
      menu={periodMenu}
      aria-label={`Time range: ${label}`}
      className={`${pill} gap-2 px-4`}
    >
      {label}
      <ChevronDown aria-hidden="true" className="size-4 text-ink-soft" />
    </MenuButton>
  );
}
