import { Check, SlidersHorizontal } from "lucide-react";
import type { ComponentProps } from "react";
import { useNavigate } from "react-router";
import {
  exploreSearch,
  genders as genderValues,
  useExploreParams,
} from "@/app/routes/explore/explore-params";
import { Menu, MenuCheckboxItem, MenuContent, MenuTrigger } from "@/components/ui/menu";
import { Sheet } from "@/components/ui/sheet";
import { cn } from "@/lib/cn";
import type { Gender } from "@/lib/database.types";
import { capitalise } from "@/lib/format";

/** Multi-select of genders: a menu on wide screens, a sheet on phones. */
export function FilterMenu() {
  const params = useExploreParams();
  const navigate = useNavigate();
  const chosen = params.genders;

  function toggle(gender: Gender) {
    const next = genderValues.filter((value) =>
      value === gender ? !chosen.includes(value) : chosen.includes(value),
    );
    navigate(`/${exploreSearch({ ...params, genders: next, outfit: null })}`, {
      replace: true,
      preventScrollReset: true,
    });
  }

  return (
    <>
      <div className="max-md:hidden">
        <Menu>
          <MenuTrigger asChild>
            <FilterButton count={chosen.length} />
          </MenuTrigger>
          <MenuContent narrow>
            {genderValues.map((gender) => (
              <MenuCheckboxItem
                key={gender}
                checked={chosen.includes(gender)}
                onCheckedChange={() => toggle(gender)}
              >
                {capitalise(gender)}
              </MenuCheckboxItem>
            ))}
          </MenuContent>
        </Menu>
      </div>
      <div className="md:hidden">
        <Sheet title="Filter" trigger={<FilterButton count={chosen.length} compact />}>
          <div className="flex flex-wrap gap-2 pt-1">
            {genderValues.map((gender) => {
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
      </div>
    </>
  );
}

interface FilterButtonProps extends ComponentProps<"button"> {
  count: number;
  compact?: boolean;
}

function FilterButton({ count, compact = false, ...rest }: FilterButtonProps) {
  const label = count === 0 ? "Filter" : `Filter, ${count} chosen`;
  return (
    <button
      type="button"
      aria-label={label}
      className={cn(
        "inline-flex h-11 items-center justify-center gap-2.5 rounded-full border border-line text-ink text-small transition-colors hover:border-ink-soft",
        compact ? "w-11" : "px-4",
      )}
      {...rest}
    >
      <span className="relative">
        <SlidersHorizontal aria-hidden="true" className="size-4.5" strokeWidth={1.6} />
        {compact && count > 0 && (
          <span className="absolute -top-1 -right-1 size-2 rounded-full bg-accent" />
        )}
      </span>
      {!compact && <span>Filter</span>}
      {!compact && count > 0 && <span className="text-ink-soft tabular-nums">{count}</span>}
    </button>
  );
}
