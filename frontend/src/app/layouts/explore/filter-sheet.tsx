import { cn } from "@ui/cn";
import { Check } from "lucide-react";
import { Sheet } from "@/components/ui/sheet";
import { capitalise } from "@/lib/format";
import { genders } from "@/lib/genders";
import { useGenderFilter } from "./use-gender-filter";

/** Filter by gender, several at a time, on phones. */
export function FilterSheet({ onClose }: { onClose: () => void }) {
  const { chosen, toggle } = useGenderFilter();
  return (
    <Sheet title="Filter" onClose={onClose}>
      <div className="flex flex-wrap gap-2 pt-1">
        {genders.map((gender) => {
          const pressed = chosen.includes(gender);
          return (
            <button
              key={gender}
              type="button"
              aria-pressed={pressed}
              onClick={() => toggle(gender)}
              className={cn(
                "inline-flex h-12 items-center gap-2 rounded-full border px-5 text-body transition-colors",
                pressed ? "border-ink bg-ink text-canvas" : "border-line-strong/60 text-ink",
              )}
            >
              {pressed && <Check aria-hidden="true" className="size-4" />}
              {capitalise(gender)}
            </button>
          );
        })}
      </div>
    </Sheet>
  );
}
