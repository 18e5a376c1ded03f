import { Button } from "@ui/button";
import { Sheet } from "@/components/ui/sheet";
import { FilterFields, type FilterFieldsProps } from "./filter-fields";

/** The filters as a bottom sheet, on phones. */
export function FilterSheet({
  params,
  onChange,
  onClose,
}: FilterFieldsProps & { onClose: () => void }) {
  return (
    <Sheet title="Filters" onClose={onClose}>
      <FilterFields params={params} onChange={onChange} />
      <Button variant="primary" size="lg" className="mt-6 w-full" onClick={onClose}>
        {params.tab === "items" ? "Show items" : "Show outfits"}
      </Button>
    </Sheet>
  );
}
