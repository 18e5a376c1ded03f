import type { ReactElement } from "react";
import { useNavigate } from "react-router";
import {
  exploreSearch,
  parseExploreParams,
  useExploreParams,
} from "@/app/routes/explore/explore-params";
import { Menu, MenuContent, MenuRadioGroup, MenuRadioItem } from "@/components/ui/menu";
import { topPeriods } from "@/features/outfits/api/list-top-outfits";
import { usePresentAddress } from "@/lib/use-present-address";

/** Selects the time range of the Top section. */
export function PeriodMenu({ trigger }: { trigger: ReactElement }) {
  const { period: chosen } = useExploreParams();
  const present = usePresentAddress();
  const navigate = useNavigate();

  function choose(value: string) {
    const period = topPeriods.find((candidate) => candidate.value === value)?.value;
    if (period === undefined) return;
    const params = parseExploreParams(present().params);
    navigate(`/${exploreSearch({ ...params, period, outfit: null })}`, { replace: true });
  }

  return (
    <Menu trigger={trigger}>
      <MenuContent label="Time range" narrow>
        <MenuRadioGroup value={chosen} onValueChange={choose}>
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
