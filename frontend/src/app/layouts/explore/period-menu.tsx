import type { ReactElement } from "react";
import { useNavigate } from "react-router";
import { exploreSearch, useExploreParams } from "@/app/routes/explore/explore-params";
import { Menu, MenuContent, MenuRadioGroup, MenuRadioItem } from "@/components/ui/menu";
import { topPeriods } from "@/features/outfits/api/list-top-outfits";

/** Selects the time range of the Top section. */
export function PeriodMenu({ trigger }: { trigger: ReactElement }) {
  const params = useExploreParams();
  const navigate = useNavigate();

  function choose(value: string) {
    const period = topPeriods.find((candidate) => candidate.value === value)?.value;
    if (period === undefined) return;
    navigate(`/${exploreSearch({ ...params, period, outfit: null })}`, { replace: true });
  }

  return (
    <Menu trigger={trigger}>
      <MenuContent label="Time range" narrow>
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
