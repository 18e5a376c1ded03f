import { ChevronDown } from "lucide-react";
import { useNavigate } from "react-router";
import { exploreSearch, useExploreParams } from "@/app/routes/explore/explore-params";
import {
  Menu,
  MenuContent,
  MenuRadioGroup,
  MenuRadioItem,
  MenuTrigger,
} from "@/components/ui/menu";
import { topPeriods } from "@/features/outfits/api/list-top-outfits";

/** The time range of the ranking. */
export function PeriodMenu() {
  const params = useExploreParams();
  const navigate = useNavigate();
  const current = topPeriods.find(({ value }) => value === params.period);

  function choose(value: string) {
    const period = topPeriods.find((candidate) => candidate.value === value)?.value;
    if (period === undefined) return;
    navigate(`/${exploreSearch({ ...params, period, outfit: null })}`, { replace: true });
  }

  return (
    <Menu>
      <MenuTrigger
        aria-label={`Time range: ${current?.label}`}
        className="inline-flex h-11 items-center gap-2 rounded-full border border-line px-4 text-ink text-small whitespace-nowrap transition-colors hover:border-ink-soft"
      >
        {current?.label}
        <ChevronDown aria-hidden="true" className="size-4 text-ink-soft" />
      </MenuTrigger>
      <MenuContent narrow>
        <MenuRadioGroup value={params.period} onValueChange={choose}>
          {topPeriods.map(({ value, label }) => (
            <MenuRadioItem key={value} value={value}>
              {label}
            </MenuRadioItem>
          ))}
        </MenuRadioGroup>
      </MenuContent>
    </Menu>
  );
}
