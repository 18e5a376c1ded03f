import { cn } from "@ui/cn";
import { useMediaQuery } from "@ui/use-media-query";
import { SlidersHorizontal } from "lucide-react";
import { Suspense, useState } from "react";
import { useNavigate } from "react-router";
import { SearchField } from "@/components/search-field";
import * as Tabs from "@/components/ui/tabs";
import { lazyPart } from "@/lib/lazy-part";
import { paths } from "@/lib/paths";
import { pageTitle } from "@/lib/product";
import { usePresentAddress } from "@/lib/use-present-address";
import { ChosenFilters } from "./chosen-filters";
import {
  countFilters,
  type DiscoveryChange,
  type DiscoveryTab,
  discoverySearch,
  discoveryTabs,
  parseDiscoveryParams,
  useDiscoveryParams,
} from "./discovery-params";
import { formatCount, useFoundCounts } from "./found-counts";
import { FoundItems, FoundOutfits } from "./results";

const FilterPanel = lazyPart(async () => ({
  default: (await import("./filter-panel")).FilterPanel,
}));
const FilterSheet = lazyPart(
  async () => ({ default: (await import("./filter-sheet")).FilterSheet }),
  "overlay",
);

const tabLabels: Record<DiscoveryTab, string> = { outfits: "Outfits", items: "Items" };

/** Search in outfits and items with filters. The address holds the whole state. */
export function Discovery() {
  const params = useDiscoveryParams();
  const navigate = useNavigate();
  const present = usePresentAddress();
  const isWide = useMediaQuery("(min-width: 48rem)");
  const [panelOpen, setPanelOpen] = useState(false);
  const counts = useFoundCounts(params);

  function applyChange(change: DiscoveryChange) {
    const { pathname, params: address } = present();
    // A price that is applied when its field is left with the page must not lead back to it.
    if (pathname !== paths.discovery) return;
    const now = parseDiscoveryParams(address);
    const changed = typeof change === "function" ? change(now) : change;
    navigate(`${paths.discovery}${discoverySearch({ ...now, ...changed })}`, {
      replace: true,
      preventScrollReset: true,
    });
  }

  const filterButton = (
    <FilterButton
      count={countFilters(params)}
      open={panelOpen}
      onClick={() => setPanelOpen(!panelOpen)}
    />
  );
  return (
    <section aria-labelledby="discovery-title">
      <title>{pageTitle("Discovery")}</title>
      <h1 id="discovery-title" className="font-serif text-display">
        Discovery
      </h1>
      <div className="mt-6 flex items-center gap-2 md:mt-8">
        <SearchField
          query={params.query}
          onSearch={(query) => applyChange({ query })}
          label="Search outfits and items"
          placeholder="Search outfits and items..."
          size="lg"
          className="max-w-2xl flex-1"
        />
        {filterButton}
      </div>
      {panelOpen && (
        <Suspense>
          {isWide ? (
            <FilterPanel params={params} onChange={applyChange} />
          ) : (
            <FilterSheet
              params={params}
              counts={counts}
              onChange={applyChange}
              onClose={() => setPanelOpen(false)}
            />
          )}
        </Suspense>
      )}
      <ChosenFilters params={params} onChange={applyChange} />
      <Tabs.Root
        value={params.tab}
        onValueChange={(tab) => applyChange({ tab: tab === "items" ? "items" : "outfits" })}
        className="mt-6"
      >
        <Tabs.List aria-label="Results" className="mb-6 flex gap-7 border-line border-b">
          {discoveryTabs.map((tab) => (
            <Tabs.Trigger
              key={tab}
              value={tab}
              className="-mb-px inline-flex h-12 min-w-11 items-center border-transparent border-b-2 font-medium text-body text-ink-soft transition-colors hover:text-ink data-[state=active]:border-accent data-[state=active]:text-ink"
            >
              {tabLabels[tab]}
              {counts !== undefined && (
                <>
                  {" "}
                  <span className="ml-2 text-caption text-ink-soft tabular-nums">
                    {formatCount(counts[tab])}
                  </span>
                </>
              )}
            </Tabs.Trigger>
          ))}
        </Tabs.List>
        <Tabs.Content value="outfits" className="outline-none" tabIndex={-1}>
          <FoundOutfits params={params} onChange={applyChange} />
        </Tabs.Content>
        <Tabs.Content value="items" className="outline-none" tabIndex={-1}>
          <FoundItems params={params} onChange={applyChange} />
        </Tabs.Content>
      </Tabs.Root>
    </section>
  );
}

interface FilterButtonProps {
  count: number;
  open: boolean;
  onClick: () => void;
}

function FilterButton({ count, open, onClick }: FilterButtonProps) {
  return (
    <button
      type="button"
      aria-expanded={open}
      aria-label={count === 0 ? "Filters" : `Filters, ${count} chosen`}
      onClick={onClick}
      className={cn(
        "relative inline-flex h-12 shrink-0 items-center justify-center gap-2.5 rounded-full border text-ink text-small transition-colors hover:border-ink-soft max-md:w-12 md:px-5",
        open ? "border-ink" : "border-line",
      )}
    >
      <SlidersHorizontal aria-hidden="true" className="size-4.5" strokeWidth={1.6} />
      <span className="max-md:hidden">Filters</span>{" "}
      {count > 0 && (
        <span className="text-ink-soft tabular-nums max-md:absolute max-md:top-1 max-md:right-1 max-md:flex max-md:size-4.5 max-md:items-center max-md:justify-center max-md:rounded-full max-md:bg-accent max-md:text-label max-md:text-on-accent">
          {count}
        </span>
      )}
    </button>
  );
}
