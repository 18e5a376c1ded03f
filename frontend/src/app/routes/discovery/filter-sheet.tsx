import { Button } from "@ui/button";
import { Sheet } from "@/components/ui/sheet";
import { FilterFields, type FilterFieldsProps } from "./filter-fields";
import { type FoundCounts, formatCount } from "./found-counts";

interface FilterSheetProps extends FilterFieldsProps {
  /** How much the chosen filters find; absent before it is known, and while nothing is filtered. */
  counts: FoundCounts | undefined;
  onClose: () => void;
}

/** The filters as a bottom sheet, on phones. Its button stays at the lower edge and says how much is found. */
export function FilterSheet({ params, counts, onChange, onClose }: FilterSheetProps) {
  const found = counts?.[params.tab];
  const noun = params.tab === "items" ? "item" : "outfit";
  const countedNoun = found === 1 ? noun : `${noun}s`;
  return (
    <Sheet title="Filters" onClose={onClose}>
      <FilterFields params={params} onChange={onChange} />
      <div className="sticky -bottom-6 -mx-5 mt-6 bg-raised px-5 pt-3 pb-6">
        <Button variant="primary" size="lg" className="w-full" onClick={onClose}>
          {found === undefined
            ? `Show ${countedNoun}`
            : `Show ${formatCount(found)} ${countedNoun}`}
        </Button>
      </div>
    </Sheet>
  );
}
